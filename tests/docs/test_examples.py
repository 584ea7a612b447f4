"""Examples of docstrings: every class that is offered by name has one, and all of them run as printed."""

import doctest
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hopfield

OFFERED = "hopfield.attention.encodings"
"""Module all of whose classes are offered, beside the classes of packages and of modules at the top."""


def modules() -> Iterator[ModuleType]:
    names = [found.name for found in pkgutil.walk_packages(hopfield.__path__, "hopfield.")]
    yield from map(importlib.import_module, ["hopfield", *(name for name in names if "._" not in name)])


def offered() -> set[type]:
    """Classes in the `__all__` of a package, and those that a module at the top or the module above defines."""
    packages = [module for module in modules() if hasattr(module, "__path__")]
    values = [getattr(module, name) for module in packages for name in getattr(module, "__all__", ())]
    for module in modules():
        if module.__name__ == OFFERED or module.__name__.count(".") == 1:
            values += [value for value in vars(module).values() if getattr(value, "__module__", "") == module.__name__]
    return {value for value in values if inspect.isclass(value) and not value.__name__.startswith("_")}


def examples() -> dict[str, doctest.DocTest]:
    """Examples by the name of what they are of; a reader has `jax`, `jnp` and `np` and what its module imports."""
    finder, found = doctest.DocTestFinder(exclude_empty=True), {}
    inner = {cls.__module__ for cls in offered()} - {module.__name__ for module in modules()}
    for module in (*modules(), *map(importlib.import_module, sorted(inner))):
        names = {**vars(module), "jax": jax, "jnp": jnp, "np": np}
        for name, value in vars(module).items():
            if getattr(value, "__module__", None) == module.__name__ and (inspect.isclass(value) or callable(value)):
                tests = finder.find(value, f"{module.__name__}.{name}", module, names) if value.__doc__ else []
                found |= {test.name: test for test in tests if test.examples}
    return found


EXAMPLES = examples()


def test_every_class_that_is_offered_has_an_example() -> None:
    assert {f"{cls.__module__}.{cls.__name__}" for cls in offered()} <= EXAMPLES.keys()


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_prints_what_it_says(name: str) -> None:
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    told: list[str] = []
    with jax.numpy_rank_promotion("allow"), jax.enable_x64(False):
        failed = runner.run(EXAMPLES[name], out=told.append).failed
    assert failed == 0, "".join(told)

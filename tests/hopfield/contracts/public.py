"""The public functions of the library: how each is called with numbers drawn at random, and how NaN enters and shows.

Cases stand in files by part of the library, `public_core.py` and its like; `test_public.py` collects them
and walks the library for functions that no case calls.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, NamedTuple

import jax
import numpy as np

import hopfield

COMPILED = "/jax/core/compile/backend_compile_duration"
"""Event of JAX for every program compiled, or taken from the persistent cache."""

BY_NAME = "hopfield.memories"
"""Package whose modules are found by name and pass nothing on to it."""

Shape = tuple[int, ...]
ROWS: tuple[Shape, ...] = ((7,), (36, 106), (1, 2, 36, 106))
"""Rows of scores or weights; at the last shape the compiled maximum of XLA on CPUs drops NaN."""


class Call(NamedTuple):
    """A function with its arguments."""

    function: Callable
    arguments: tuple = ()
    options: Mapping[str, Any] = MappingProxyType({})

    def __call__(self) -> Any:
        return self.function(*self.arguments, **self.options)

    def argument(self, place: int | str) -> np.ndarray:
        """A positional (by number) or keyword (by name) argument."""
        return self.options[place] if isinstance(place, str) else self.arguments[place]

    def with_argument(self, place: int | str, value) -> "Call":
        """The same call with another value of one argument."""
        if isinstance(place, str):
            return self._replace(options={**self.options, place: value})
        return self._replace(arguments=(*self.arguments[:place], value, *self.arguments[place + 1 :]))


def all_nan(found: Any) -> bool:
    """True if every floating array of a result holds NaN."""
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(found)]
    floating = [leaf for leaf in leaves if np.issubdtype(leaf.dtype, np.floating)]
    return bool(floating) and all(bool(np.any(np.isnan(leaf))) for leaf in floating)


@dataclass(frozen=True)
class Case:
    """A public function and how to call it.

    Attributes:
        name: dotted name, as `hopfield.observables.thermodynamics.entropy`; several cases may share it.
        draw: the call with numbers from a generator, its arrays of this shape; arguments are numpy arrays, numbers, or
            objects of the library. Two draws of one shape differ in numbers only.
        nan: places, by number or name, of the numpy arrays in which one NaN must show.
        shows: whether a result says that it is not a number; by default, NaN in every floating array of it.
        mask: name of the keyword that takes a mask of the shape of the first array in `nan`, where there is one.
        shapes: shapes to draw; compilations are counted at the first.
    """

    name: str
    draw: Callable[[np.random.Generator, Shape], Call]
    nan: tuple[int | str, ...] = ()
    shows: Callable[[Any], bool] = all_nan
    mask: str | None = None
    shapes: tuple[Shape, ...] = ((7,),)


@contextmanager
def compilations() -> Iterator[list[str]]:
    """The programs compiled, or fetched from the persistent cache, while the body runs."""
    seen: list[str] = []

    def listen(event: str, seconds: float, **about) -> None:
        if event == COMPILED:
            seen.append(str(about.get("fun_name", "program")))

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        yield seen
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)


def names() -> tuple[str, ...]:
    """Dotted names of all public functions, and of the public methods of public classes.

    A package with `__all__` has the names that it exports; any other module, the names defined in it.
    """
    found: set[str] = set()
    exporting: list[str] = []
    for about in pkgutil.walk_packages(hopfield.__path__, "hopfield."):
        if any(about.name.startswith(f"{package}.") for package in exporting):
            continue
        module = importlib.import_module(about.name)
        exported = getattr(module, "__all__", []) if about.ispkg and about.name != BY_NAME else []
        if exported and not any(inspect.ismodule(getattr(module, name)) for name in exported):
            exporting.append(about.name)
        else:
            exported = [name for name, value in vars(module).items() if _defined(value, module)]
        for name in exported:
            found.update(_verbs(f"{about.name}.{name}", getattr(module, name)))
    return tuple(sorted(found))


def _defined(value: Any, module) -> bool:
    callable_ = inspect.isfunction(inspect.unwrap(value)) if callable(value) else False
    return (inspect.isclass(value) or callable_) and getattr(value, "__module__", None) == module.__name__


def _verbs(dotted: str, value: Any) -> Iterator[str]:
    """A function itself, or the methods of a class that computes."""
    if dotted.rpartition(".")[2].startswith("_"):
        return
    if inspect.isclass(value):
        for name in dir(value):
            method = inspect.getattr_static(value, name)
            method = method.__func__ if isinstance(method, classmethod | staticmethod) else method
            own = inspect.isfunction(method) and method.__module__.startswith("hopfield.")
            if own and (name == "__call__" or not name.startswith("_")):
                yield f"{dotted}.{name}"
    elif callable(value):
        yield dotted


def uncalled_names(cases: tuple[Case, ...], excluded: dict[str, str]) -> list[str]:
    """Public names that no case calls and no pattern of `excluded` names."""
    called = {case.name for case in cases}
    return [name for name in names() if name not in called and not any(fnmatchcase(name, p) for p in excluded)]


def by_reason(reasons: dict[str, str]) -> dict[str, str]:
    """Patterns of public names without a case, written by the reason that they share, and why."""
    return {f"hopfield.{name}": reason for reason, names in reasons.items() for name in names.split()}

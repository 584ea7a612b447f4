"""Modules of the library after `import hopfield`."""

import ast
import importlib
import inspect
import pkgutil
import typing
from types import ModuleType

import pytest

import hopfield
from hopfield import _door
from tests.source_code import ROOT, tree_of

MODULES = [found.name for found in pkgutil.iter_modules(hopfield.__path__) if not found.name.startswith("_")]
SHOWN = {*MODULES} - {"disturbances", "outside", "packed"}


@pytest.mark.parametrize("name", MODULES)
def test_every_public_module_is_an_attribute(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module(f"hopfield.{name}")
    monkeypatch.delattr(hopfield, name)  # as before anything else has imported it
    assert getattr(hopfield, name) is module
    assert (name in dir(hopfield)) == (name in SHOWN)
    assert {*dir(hopfield)} == {*hopfield.__all__, *SHOWN, *_door.PYTHON}  # no tools of the module itself


def test_those_who_check_types_are_told_of_every_public_module() -> None:
    nodes = ast.walk(tree_of(ROOT / "hopfield" / "__init__.py"))
    named = [
        alias
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module == "hopfield"
        for alias in node.names
    ]
    assert sorted(alias.name for alias in named) == sorted(MODULES)


def offered() -> dict[str, ModuleType]:
    """Packages by name, which list what they offer; a module offers what it defines without an underscore."""
    names = (about.name for about in pkgutil.walk_packages(hopfield.__path__, "hopfield.") if about.ispkg)
    found = [hopfield, *(importlib.import_module(name) for name in names if "._" not in name)]
    return {module.__name__: module for module in found}


OFFERED = offered()


@pytest.mark.parametrize("name", OFFERED)
def test_a_module_lists_its_public_names_and_no_tools(name: str) -> None:
    """The library itself also lists modules and doors to the experiments, imported when they are asked for."""
    assert dir(OFFERED[name]) == sorted(
        {*OFFERED[name].__all__, *([*SHOWN, *_door.PYTHON] if name == "hopfield" else ())}
    )


@pytest.mark.parametrize("name", OFFERED)
def test_a_module_says_which_of_its_names_are_public(name: str) -> None:
    """Each is there and told of; functions and classes that it defines are among them, and no tools it imports."""
    module = OFFERED[name]
    public = {entry: getattr(module, entry) for entry in module.__all__}
    assert len(public) == len(module.__all__)
    objects = [value for value in public.values() if not typing.get_args(value)]  # aliases of types have no docstring
    assert all(value.__doc__ for value in objects if callable(value) or inspect.ismodule(value))
    defined = {entry for entry, value in vars(module).items() if getattr(value, "__module__", None) == name}
    named = {entry for entry in defined if callable(vars(module)[entry]) and vars(module)[entry].__name__ == entry}
    assert {entry for entry in named if not entry.startswith("_")} <= public.keys()  # but aliases of types
    homes = {getattr(value, "__module__", None) or getattr(value, "__name__", name) for value in objects}
    assert all(home.startswith("hopfield") for home in homes), homes

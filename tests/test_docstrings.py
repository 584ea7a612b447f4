"""Docstrings: no public name of the library and the experiments goes without one."""

import ast
import contextlib
import functools
import importlib
import inspect
import pkgutil
import re
import types
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import experiments
import hopfield
from experiments import figures, runner, shared, statistics, system
from experiments.runner import registry
from hopfield import Memory, attention, dynamics, geometry, large, networks, optim, patterns
from tests.source_code import ROOT, tree_of

PACKAGES = [hopfield] + [
    importlib.import_module(found.name)
    for found in pkgutil.walk_packages(hopfield.__path__, "hopfield.")
    if found.ispkg and "._" not in found.name and "triton_programs" not in found.name
]
"""The library and its public packages."""


def modules(package: ModuleType) -> Iterator[ModuleType]:
    """A package with all that is below it."""
    folder = Path(package.__path__[0])
    for path in sorted(folder.rglob("*.py")):
        if path.stem != "__main__" and "triton_programs" not in path.parts:
            parts = path.relative_to(folder.parent).with_suffix("").parts
            yield importlib.import_module(".".join(parts).removesuffix(".__init__"))


def documented(value: Any) -> bool:
    """True if somebody wrote its docstring; data classes and named tuples have one of their fields by themselves."""
    text = inspect.getdoc(value) or ""
    return text != "" and not (inspect.isclass(value) and text.startswith(f"{value.__name__}("))


def said(cls: type, verb: str) -> bool:
    """True if what a class does is documented there or where inherited from; a property, among attributes too."""
    member, classes = vars(cls)[verb], inspect.getmro(cls)
    if isinstance(member, property):
        listed = any(re.search(rf"\b{verb}\b", vars(each).get("__doc__") or "") for each in classes)
        return listed or any(documented(vars(each).get(verb)) for each in classes if verb in vars(each))
    method = inspect.isfunction(member) or isinstance(member, classmethod | staticmethod)
    return not method or documented(getattr(cls, verb))


def members(value: Any) -> list[str]:
    """Public names in the body of a class that are no fields; of anything else, none."""
    fields = inspect.get_annotations(value) if inspect.isclass(value) else {}
    return (
        [name for name in vars(value) if not name.startswith("_") and name not in fields]
        if inspect.isclass(value)
        else []
    )


def undocumented(package: ModuleType) -> Iterator[str]:
    """Dotted names: all modules, and in those that are public the classes, functions and methods defined there."""
    for module in modules(package):
        if not module.__doc__:
            yield module.__name__
        if any(part.startswith("_") for part in module.__name__.split(".")):
            continue
        for name, value in vars(module).items():
            if name.startswith("_") or getattr(value, "__module__", None) != module.__name__ or not callable(value):
                continue
            if not documented(value):
                yield f"{module.__name__}.{name}"
            for verb in members(value):
                if not said(value, verb):
                    yield f"{module.__name__}.{name}.{verb}"


def named(package: ModuleType) -> Iterator[str]:
    """Dotted names that the docstring of a package gives: in backticks, with an underscore, or first in a table.

    Where names follow in the table's second column, the first is their kind. What is called or assigned is an example.
    """
    text = package.__doc__ or ""
    yield from re.findall(r"`([A-Za-z][\w.]*)`", text)
    yield from re.findall(r"(?<![\w./`<-])[a-z]{2,}(?:_[a-z]+)+(?![\w./(=])", text)
    for kind, first in re.findall(r"^ {4}([a-z]\w*)(?: {2,}|$)(\w*)", text, re.MULTILINE):
        yield first if hasattr(package, first) else kind


def stands(package: ModuleType, name: str) -> bool:
    """True if a name is found in the package, in one below, or in the library, by attributes alone.

    Names of a package that imports when asked are the ones it lists: another test may have imported more.
    """
    found = [package, *(value for value in vars(package).values() if isinstance(value, ModuleType))]
    if "__getattr__" in vars(package) and package is not hopfield:
        found = [types.SimpleNamespace(**{each: getattr(package, each) for each in dir(package)})]
    for place in [*found, hopfield]:
        with contextlib.suppress(AttributeError):
            functools.reduce(getattr, name.removeprefix("hopfield.").split("."), place)
            return True
    return False


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_every_name_that_a_package_gives_exists(package):
    assert [name for name in named(package) if not stands(package, name)] == []


@pytest.mark.parametrize("package", [hopfield, experiments], ids=lambda package: package.__name__)
def test_every_public_name_has_a_docstring(package):
    assert list(undocumented(package)) == []


def test_what_has_none_is_found(monkeypatch):
    for value, text in ((Memory, "Memory(patterns)"), (Memory.read, None), (patterns.spins, "")):
        monkeypatch.setattr(value, "__doc__", text)
    found = {"hopfield.memory.Memory", "hopfield.memory.Memory.read", "hopfield.patterns.ensembles.spins"}
    assert set(undocumented(hopfield)) == found


def opened_by_a_verb() -> Iterator[str]:
    """Checks among functions of the experiments, hidden ones too, that say what they do and not what they hold to."""
    for path in sorted((ROOT / "experiments").rglob("*.py")):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef) and re.match(
                r"(Refuse|Raise|Ensure|Make sure|Checks\b|Check\b(?! that ))", ast.get_docstring(node) or ""
            ):
                yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"


def test_a_check_says_what_it_holds_to():
    assert list(opened_by_a_verb()) == []


TABLES = [experiments, figures, runner, shared, statistics, system, dynamics, geometry, large, networks, optim]


@pytest.mark.parametrize("package", TABLES, ids=lambda package: package.__name__)
def test_a_table_of_files_names_every_public_one(package):
    listed = re.findall(r"^ {4}(\w+) ", package.__doc__, re.MULTILINE)
    found = Path(package.__path__[0]).iterdir()
    names = {path.stem for path in found if path.suffix == ".py" or [*path.glob("*.py")]} - {"triton_programs"}
    assert sorted(listed) == sorted(name for name in names if not name.startswith("_"))


def test_the_table_of_scripts_names_every_public_one():
    folder = ROOT / "scripts"
    listed = re.findall(r"^\| `([\w./]+)` \|", (folder / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    names = {f"{path.name}/" if path.is_dir() else path.name for path in folder.iterdir() if path.name[0] not in "._"}
    assert set(listed) == names - {"README.md", "__pycache__/"}


def test_the_docstring_of_attention_names_all_that_it_exports():
    assert set(attention.__all__) <= set(re.findall(r"\w+", attention.__doc__ or ""))


def test_the_table_of_the_runner_names_every_file_of_its_tests():
    files = {path.stem for path in (ROOT / "tests/experiments/runner").glob("test_*.py")}
    assert set(re.findall(r"\btest_\w+", runner.__doc__ or "")) - {"test_api"} == files  # that of the door from Python


def words(folder: Path) -> set[str]:
    """Words of the code of a folder, strings among them but docstrings and other bare ones."""
    nodes = [node for path in folder.glob("*.py") for node in ast.walk(tree_of(path))]
    bare = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    texts = [text for node in nodes if id(node) not in bare for text in vars(node).values() if isinstance(text, str)]
    return {word for text in texts for word in re.findall(r"\w+", text)}


@pytest.mark.parametrize("name", registry.names())
def test_what_an_experiment_tells_of_is_in_its_code(name):
    known = words(ROOT / "experiments" / name)
    told = re.findall(r"`(\w+)`", registry.load(name).__doc__ or "")
    ends = {each[each.rindex("_") :] for each in known if "_" in each}
    assert set(told) - known - ends == set()

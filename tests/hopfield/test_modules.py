"""Modules of the library after `import hopfield`."""

import ast
import importlib
import pkgutil
import subprocess
import sys

import pytest

import hopfield
from tests.source_code import ROOT, imports, tree_of

MODULES = [found.name for found in pkgutil.iter_modules(hopfield.__path__) if not found.name.startswith("_")]


@pytest.mark.parametrize("name", MODULES)
def test_every_public_module_is_an_attribute(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module(f"hopfield.{name}")
    monkeypatch.delattr(hopfield, name)  # as before anything else has imported it
    assert getattr(hopfield, name) is module
    assert name in dir(hopfield)
    assert {*dir(hopfield)} == {*hopfield.__all__, *MODULES}  # no tools of the module itself


def test_other_names_are_none() -> None:
    with pytest.raises(AttributeError, match="module 'hopfield' has no attribute 'grphs'"):
        _ = hopfield.grphs  # type: ignore[attr-defined]
    assert not hasattr(hopfield, "_checked")


def test_what_is_not_imported_is_named_for_those_who_check_types() -> None:
    code = "import sys, hopfield; print(*(name for name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    loaded = set(done.stdout.split())
    late = {f"hopfield.{name}" for name in MODULES} - loaded
    assert "hopfield.graphs" in late
    assert "matplotlib" not in loaded
    assert late <= {found.module for found in imports(ROOT / "hopfield" / "__init__.py")}


def test_those_who_check_types_are_told_of_every_public_module() -> None:
    nodes = ast.walk(tree_of(ROOT / "hopfield" / "__init__.py"))
    named = [
        alias
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module == "hopfield"
        for alias in node.names
    ]
    assert sorted(alias.name for alias in named) == sorted(MODULES)

"""The map of names says nothing that cannot be imported."""

import importlib
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorial" / "names.md"
ROWS = [line.split("|")[1:3] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]


def found(path: str) -> object:
    """The module, or the attribute of the module, that a dotted path names."""
    module, _, name = path.rpartition(".")
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        return getattr(importlib.import_module(module), name)


def test_the_map_has_a_row_for_every_function():
    theirs = {name for left, _ in ROWS for name in re.findall(r"`(\w+)`", left)}
    assert len(theirs) > 60
    assert {"scaled_dot_product_attention", "verify_gradients", "HopfieldPooling"} <= theirs


@pytest.mark.parametrize(
    "path", sorted({path for _, right in ROWS for path in re.findall(r"`(hopfield[\w.]*)`", right)})
)
def test_every_name_on_the_right_imports(path):
    assert found(path) is not None

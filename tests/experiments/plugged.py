"""Packages of a user: one that is installed, with an entry point."""

import importlib
import sys
from pathlib import Path

import pytest


def install_package(folder: Path, code: str, entry: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install `pack.code` with an entry point, `[group]` and its line, while a test runs."""
    (folder / "pack").mkdir()
    (folder / "pack/code.py").write_text(code)
    (folder / "own-1.0.dist-info").mkdir()
    (folder / "own-1.0.dist-info/METADATA").write_text("Name: own\nVersion: 1.0\n")
    (folder / "own-1.0.dist-info/entry_points.txt").write_text(entry)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "pack.code", raising=False)
    monkeypatch.delitem(sys.modules, "pack", raising=False)
    importlib.invalidate_caches()

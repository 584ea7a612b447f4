"""Parts found by folder: one file each, named as an option names it."""

import importlib
from pathlib import Path
from types import ModuleType


def names(folder: Path) -> tuple[str, ...]:
    """Names of the parts in a folder: its modules, except `base` and modules that begin with an underscore."""
    return tuple(sorted(path.stem for path in folder.glob("[a-z]*.py") if path.stem != "base"))


def find(package: str, name: str) -> ModuleType:
    """The module of a part of a package."""
    return importlib.import_module(f"{package}.{name}")

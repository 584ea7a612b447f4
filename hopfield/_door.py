"""Doors from the library to what the package of experiments offers: entry points, in a checkout and in the wheel."""

import sys
import threading
import tomllib
from importlib.machinery import PathFinder
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import Any

GROUP = "hopfield.doors"
"""Group of entry points in pyproject.toml: `PYTHON` lists doors from Python; the others open from the command line."""
PYTHON = ("capacity", "measure", "open_run", "sweep")
INSTALLED = "hopfield._command"
"""Folder of the wheel that holds the packages of the doors, where no other package of their names can stand."""
NEEDED = {
    "filelock": "filelock",
    "hydra-core": "hydra",
    "jinja2": "jinja2",
    "matplotlib": "matplotlib",
    "pandas": "pandas",
    "scikit-learn": "sklearn",
    "tqdm": "tqdm",
    "wandb": "wandb",
}
"""Packages that the experiments need and the library does not, with the module that each brings."""
_LOCK = threading.Lock()


def opened(name: str) -> Any:
    """Object that a door leads to.

    Raises:
        ImportError: a package that it needs is not installed, or another package of its name was imported before.
    """
    if sentence := lacking():
        raise ImportError(sentence)
    spec = find_spec(INSTALLED)
    places = [*(spec.submodule_search_locations or ())] if spec is not None else [str(_checkout())]
    door = next(iter(entry_points(group=GROUP, name=name)), None) or _written(name)
    _put_first(door.module.partition(".")[0], places)
    return door.load()


def lacking() -> str:
    """Sentence on packages that the experiments need and that are not installed; empty if none is lacking."""
    absent = [name for name, module in NEEDED.items() if find_spec(module) is None]
    need = f"hopfield's experiments need {', '.join(absent)}"
    return f"{need}, which this environment has not: pip install hopfield brings them" if absent else ""


def _checkout() -> Path:
    return Path(sys.modules["hopfield"].__path__[0]).resolve().parent


def _written(name: str) -> EntryPoint:
    """A door as pyproject.toml has it: of a checkout that nobody has installed, or before it had that door."""
    try:
        project = tomllib.loads((_checkout() / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        return EntryPoint(name, project["entry-points"][GROUP][name], GROUP)
    except (OSError, KeyError):
        raise ImportError(f"hopfield must be installed with its metadata, got no entry point {GROUP} {name}") from None


def _put_first(package: str, places: list[str]) -> None:
    """Import a package from these places, whatever else has its name; ImportError if another one is there already."""
    spec = PathFinder.find_spec(package, places)
    if spec is None or spec.loader is None:
        raise ImportError(f"{package} must lie in {places[0]}, got nothing")
    with _LOCK:
        if package not in sys.modules:
            sys.modules[package] = module_from_spec(spec)
            spec.loader.exec_module(sys.modules[package])
    found = sys.modules[package].__file__ or "nothing"
    if spec.origin is None or Path(found).resolve() != Path(spec.origin).resolve():
        raise ImportError(f"{package} must be that of hopfield in {places[0]}, got {found}, imported before")

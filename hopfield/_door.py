"""Door from Python to the experiments that the command runs, from a checkout and from the wheel."""

import importlib
import importlib.util
import sys
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["capacity", "measure", "open_run"]

PACKAGE = Path(__file__).resolve().parent
HOME = PACKAGE / "_command" if (PACKAGE / "_command").is_dir() else PACKAGE.parent
"""Folder of `experiments` and `conf`: inside the package of the wheel, where no other package's `experiments` can stand
in their place, and beside it in a checkout."""

NEEDED = {
    "filelock": "filelock",
    "hydra-core": "hydra",
    "matplotlib": "matplotlib",
    "omegaconf": "omegaconf",
    "pandas": "pandas",
    "scikit-learn": "sklearn",
    "tqdm": "tqdm",
    "wandb": "wandb",
}
"""Packages that the experiments need and the library does not, with the module that each brings."""


def capacity(memory: Any, **options: Any) -> Any:
    """Critical loads of a memory and the curves they are read from, measured as `hopfield conf=capacity` does.

    Args:
        memory: a function of patterns [M, N] with a keyword `mask` that returns a `Memory` or `Couplings`, or a name
            such as "dense:3", "./file.py:name" or what `find_memory` returns.
        options: those of `hopfield conf=capacity --help`, `neurons=[100, 200]`, `loads=[...]`, `samples=20` …;
            `output="folder"` keeps the results there, and goes on with what is measured already.

    Returns:
        The run: `critical_load` and `curves`, DataFrames with errors, `table`, `summary`, `plot()`.

    Raises:
        ValueError: an option that there is not, or a value that it cannot have.
        ImportError: packages of the command are not installed.
    """
    return _experiments().capacity(memory, **options)


def measure(name: str, *, output: str | PathLike | None = None, **options: Any) -> Any:
    """Results of any experiment, measured as `hopfield conf=name` does: same options, same refusals, same numbers.

    Args:
        name: one of those that `hopfield --help` lists, or the folder of an experiment of your own.
        output: folder of the results; without one, nothing is left behind.
        options: those of `hopfield conf=name --help`; a list as a list, a group of options as a dict.

    Returns:
        The run: `table`, a DataFrame, `summary`, a dict, `plot()`; of capacities `critical_load` and `curves`.

    Raises:
        ValueError: an option that there is not, or a value that it cannot have.
        RuntimeError: the run had to stop; the message says how far it came.
        ImportError: packages of the command are not installed.
    """
    return _experiments().measure(name, output=output, **options)


def open_run(folder: str | PathLike) -> Any:
    """Results of a finished run that a folder holds, measured by the command or from Python: as `measure` returns them.

    Of a sweep they are `table`, `curves` and `critical_load` with a further column for each option that differs.

    Raises:
        ValueError: the folder holds no such results.
        ImportError: packages of the command are not installed.
    """
    return _experiments().open_run(folder)


def _experiments() -> ModuleType:
    """The module `experiments.api` of this library, whatever else has that name.

    Raises:
        ImportError: a package that it needs is not installed, or another `experiments` was imported before.
    """
    if sentence := lacking():
        raise ImportError(sentence)
    place = HOME / "experiments"
    sys.path.insert(0, str(HOME))  # where no other package's `experiments` stands before ours
    try:
        package = importlib.import_module("experiments")
    finally:
        sys.path.remove(str(HOME))
    found = [Path(path).resolve() for path in package.__path__]
    if place not in found:
        raise ImportError(f"experiments must be those of hopfield in {HOME}, got {found[0]}, imported before")
    return importlib.import_module("experiments.api")


def lacking() -> str:
    """What is not installed of what the experiments need, in a sentence; empty if nothing is lacking."""
    absent = [name for name, module in NEEDED.items() if importlib.util.find_spec(module) is None]
    need = f"hopfield's experiments need {', '.join(absent)}"
    return f"{need}, which this environment has not: pip install hopfield brings them" if absent else ""

"""Registry: the experiments there are, found by folder, each imported when it is asked for."""

import contextlib
import difflib
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

import experiments
from experiments import contract
from experiments.columns import WORDS, Column, Columns


def names() -> list[str]:
    """Names of all experiments: the folders of this package that hold a file `experiment.py`."""
    folders = (folder for place in experiments.__path__ for folder in Path(place).iterdir())
    return sorted({folder.name for folder in folders if (folder / "experiment.py").is_file()})


FOLDERS = experiments.FOLDERS


@contextlib.contextmanager
def including(home: Path | None) -> Iterator[None]:
    """Experiments below `home`/experiments among those there are, for the length of a block.

    Raises:
        InputError: one of them has the name of an experiment that is there already.
    """
    place = None if home is None else str(home / "experiments")
    if place is None or not os.path.isdir(place) or place in experiments.__path__:
        yield
        return
    added = {folder.name for folder in Path(place).iterdir() if (folder / "experiment.py").is_file()}
    if taken := sorted(added & set(names())):
        raise contract.InputError(f"{place} must not hold experiments that are there already, got {', '.join(taken)}")
    before = os.environ.get(FOLDERS)
    os.environ[FOLDERS] = os.pathsep.join(filter(None, (before, place)))
    experiments.__path__.append(place)
    try:
        yield
    finally:
        experiments.__path__.remove(place)
        os.environ.pop(FOLDERS)
        if before is not None:
            os.environ[FOLDERS] = before
        for name in [name for name in sys.modules if name.startswith("experiments.") and name.split(".")[1] in added]:
            del sys.modules[name]


def home(name: str) -> str:
    """The folder that a user-defined experiment was brought from, empty for this package's own."""
    folder = Path(str(experiments.__path__[0]))
    place = next((Path(p) for p in experiments.__path__ if (Path(p) / name / "experiment.py").is_file()), folder)
    return "" if place == folder else str(place.parent)


def known(name: str, directory: Path) -> str:
    """Name of the experiment of a run, of this package or from the folder that a person has named; else InputError.

    What the folder of a run says of where its code lies is no reason to run it.
    """
    if name not in names():
        raise contract.InputError(
            f"experiment of {directory} must be one of hopfield, or one whose folder is named (home=FOLDER draws with"
            f" its code), got {name}"
        )
    return name


def load(name: str) -> ModuleType:
    """The module of the experiment `name`, as `experiments.contract` describes it.

    Raises:
        InputError: one of `contract.REQUIRED` is not defined there, or a function has nearly the name of a hook that
            is not, as `costs` for `cost`.
    """
    module = importlib.import_module(f"experiments.{name}.experiment")
    absent = [hook for hook in contract.HOOKS if not hasattr(module, hook)]
    for word, value in vars(module).items():
        if word not in contract.HOOKS and word[0] != "_" and callable(value) and (near := _near(word, absent)):
            raise contract.InputError(
                f"experiment.py of {name} must define hooks by their names, got {word}; did you mean {near[0]}?"
                f" (if it is none: _{word})"
            )
    if lacking := [hook for hook in contract.REQUIRED if hook in absent]:
        raise contract.InputError(f"experiment.py of {name} must define {', '.join(lacking)}")
    return module


def _near(word: str, hooks: Sequence[str]) -> list[str]:
    """The hook that a word is nearly, if any: "checked" is another word than "check", "checks" is a slip."""
    return difflib.get_close_matches(word, hooks, 1, cutoff=0.85)


def options(name: str) -> type[contract.Config]:
    """The options of the experiment `name`: the class `Config` of its file `config.py`, or `experiment.py`."""
    return _declarations(name).Config


def _declarations(name: str) -> ModuleType:
    """The module that declares options and columns: `config.py`, where there is one."""
    if importlib.util.find_spec(f"experiments.{name}.config") is not None:
        return importlib.import_module(f"experiments.{name}.config")
    return importlib.import_module(f"experiments.{name}.experiment")


def name_of(options: type) -> str:
    """Name of the experiment that a class of options belongs to: its folder."""
    return options.__module__.split(".")[-2]


def columns(name: str) -> Columns | None:
    """The columns that the experiment `name` declares beside its options; None without any.

    Raises:
        InputError: they are no dict of `Column`.
    """
    declared = getattr(_declarations(name), "COLUMNS", None)
    if declared is None:
        return None
    if not isinstance(declared, dict) or not all(isinstance(column, Column) for column in declared.values()):
        raise contract.InputError(f"COLUMNS of {name} must be a dict of Column by name")
    for column, of in declared.items():
        if of.kind not in WORDS:
            kinds = ", ".join(kind.__name__ for kind in WORDS)
            raise contract.InputError(f"kind of {column} of {name} must be one of {kinds}, got {of.kind!r}")
    return declared

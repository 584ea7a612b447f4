"""Registry: the experiments there are, found by folder, and every module that is imported only when it is needed.

The command answers `--help` and mistakes of spelling before JAX, pandas or Matplotlib are there.
"""

import importlib
from pathlib import Path
from typing import Any

import experiments
from experiments import contract


def names() -> list[str]:
    """Names of all experiments: the folders of this package that hold a file `experiment.py`."""
    folders = (folder for place in experiments.__path__ for folder in Path(place).iterdir())
    return sorted({folder.name for folder in folders if (folder / "experiment.py").is_file()})


def load(name: str) -> Any:
    """The module of the experiment `name` (an `Experiment`)."""
    return importlib.import_module(f"experiments.{name}.experiment")


def options(name: str) -> Any:
    """The options of the experiment `name`: the class `Config` of its file `config.py`, which imports little."""
    return importlib.import_module(f"experiments.{name}.config").Config


def name_of(options: type) -> str:
    """Name of the experiment that a class of options belongs to: its folder."""
    return options.__module__.split(".")[-2]


def spellings() -> Any:
    """The module `experiments.shared.spellings`, which takes the library."""
    return importlib.import_module("experiments.shared.spellings")


def execution() -> Any:
    """The module `experiments.runner.execute`, which takes JAX, pandas and Matplotlib."""
    return importlib.import_module("experiments.runner.execute")


def report() -> Any:
    """The module `experiments.figures.report`, which takes pandas and Matplotlib."""
    return importlib.import_module("experiments.figures.report")


def sweeps() -> Any:
    """The module `experiments.runner.sweeps`, which takes pandas and Matplotlib."""
    return importlib.import_module("experiments.runner.sweeps")


def judge(name: str, options: contract.Config) -> None:
    """Hold options to all that their experiment knows of them, and to what names stand for.

    Raises:
        ValueError: one of them is wrong; one sentence that begins with its name.
    """
    spellings().check(options)
    try:
        contract.check(load(name), options)
    except ValueError as error:
        raise ValueError(spellings().own_name(str(error), options)) from error

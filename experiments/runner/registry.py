"""Registry: the experiments there are, found by folder, and their modules."""

import importlib
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

import experiments

if TYPE_CHECKING:
    pass


def names() -> list[str]:
    """Names of all experiments: the folders of this package that hold a file `experiment.py`."""
    folders = (folder for place in experiments.__path__ for folder in Path(place).iterdir())
    return sorted({folder.name for folder in folders if (folder / "experiment.py").is_file()})


def load(name: str) -> Any:
    """The module of the experiment `name` (an `Experiment`)."""
    return importlib.import_module(f"experiments.{name}.experiment")


def name_of(options: type) -> str:
    """Name of the experiment that a class of options belongs to: its folder."""
    return options.__module__.split(".")[-2]

"""Table of a run as a file: written from rows, and read again with the texts that were recorded."""

from collections.abc import Sequence
from pathlib import Path

import pandas

from experiments import columns
from experiments.contract import InputError, Row, Table
from experiments.runner import registry
from experiments.system import files

NAME = "table.csv"
LARGEST = 2**32
"""Bytes of a table at most."""
MISSING = ("", "nan", "NaN")
"""Words for a number that does not exist. A text does not exist where the cell is empty: "NA" may name something."""


def write(directory: Path, rows: Table | Sequence[Row]) -> None:
    """Write the table of a directory, rows in their order, in one step. What UTF-8 lacks is spelt, as `\\udcff`."""
    with files.replacing(directory / NAME) as temporary:
        pandas.DataFrame(rows).to_csv(temporary, index=False, lineterminator="\n", errors="backslashreplace")


def read(directory: Path, experiment: str) -> Table:
    """Table of a finished run. Columns that its experiment declares as texts are texts, the degree "2" as well.

    Args:
        directory: folder of the run.
        experiment: name of the experiment, which `registry.including` may have to find.
    """
    path = directory / NAME
    if not path.is_file() or path.stat().st_size > LARGEST:  # a pipe could block for ever
        raise InputError(f"{path} must be a file of at most {LARGEST} bytes")
    declared = registry.columns(experiment) or {}
    try:
        names = pandas.read_csv(path, nrows=0).columns
        texts = {name for name in names if (column := columns.find(declared, name)) and column.kind is str}
        missing = {name: [""] if name in texts else list(MISSING) for name in names}
        return pandas.read_csv(path, dtype=dict.fromkeys(texts, str), na_values=missing, keep_default_na=False)
    except ValueError as error:  # an empty file, bytes that are no text
        raise InputError(f"{path} must be a table, got: {' '.join(str(error).split())[:200]}") from error

"""Columns of tables: the meaning, the unit and the kind of every value of a row.

An experiment declares its table's columns, with `shared` for what several experiments mean by one name:

    COLUMNS = shared("memory", "neurons", "load") | {"retained": Column("queries above 0.8", "count", kind=int)}

A column `beta_*` stands for `beta_0`, `beta_1` and so on, and every column also for its standard error, `_stderr`, and
the ends of its band, `_low` and `_high`, which are real numbers. A row with any other column, one whose name is
misspelt, or with a value of another kind stops the run. A value that does not exist is None or NaN in every column.
"""

import re
import sys
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple

from experiments import bounds
from experiments.contract import InputError

CRITERIA = {
    "retained": "overlap > 0.8",
    "retained_0.7": "overlap > 0.7",
    "retained_0.9": "overlap > 0.9",
    "fixed_point": "fixed points",
    "exact": "recovered exactly",
    "one_step_error": "0.5 % wrong after one step",
    "target_weight": "weight at the start > ½",
    "first_weight": "weight after one update > ½",
    "converged_weight": "weight at the end > ½",
}
"""Words for the criteria by which queries are judged, by their columns in tables."""


SYMBOLS = {
    "neurons": "N",
    "patterns": "M",
    "temperature": "T",
    "degree": "n",
    "activity": "a",
    "kappa": "κ",
    "beta": "β",
    "length": "L",
    "width": "d",
    "pairs": "K",
}
"""Signs of columns that sentences and charts name by one."""
USUAL = {"ensemble": "random", "corruption": "clean"}
"""Values that sentences leave out."""


class Column(NamedTuple):
    """Column of a table: the meaning of its values, their unit or range, empty if they have none, and their kind.

    The kind is float, a real number, which may be whole; int, a whole number; str, a text; or bool.
    """

    meaning: str
    unit: str = ""
    kind: type[float | str] = float

    def __str__(self) -> str:
        return f"{self.meaning} ({self.unit})" if self.unit else self.meaning


Columns = Mapping[str, Column]

WORDS = {float: "a number", int: "a whole number", str: "a text", bool: "true or false"}
"""Kinds of values, each in words."""
SHARED: Columns = {
    "memory": Column("name of the memory", kind=str),
    "dynamics": Column("dynamics of retrieval", kind=str),
    "corruption": Column(
        "corruption of the start, clean or flip:0.1; clamp=true adds that the other units were held", kind=str
    ),
    "ensemble": Column("ensemble that patterns are drawn from, or data set", kind=str),
    "task": Column("name of the task", kind=str),
    "data": Column("name of the data set", kind=str),
    "rule": Column("rule of learning, or optimiser", kind=str),
    "method": Column("name of the method", kind=str),
    "separation": Column("name of the separation", kind=str),
    "similarity": Column("name of the similarity", kind=str),
    "metric": Column("name of the metric", kind=str),
    "layer": Column("name of the layer", kind=str),
    "optimiser": Column("name of the optimiser, none before learning", kind=str),
    "neurons": Column("neurons N", "count", kind=int),
    "patterns": Column("patterns stored M", "count", kind=int),
    "load": Column("load of the patterns stored: M/N, M/Nⁿ⁻¹ or ln M / N, as the memory scales"),
    "beta": Column("inverse temperature β", "1/scores"),
    "kappa": Column("κ = β‖ξ‖²"),
    "temperature": Column("temperature T", "scores"),
    "sample": Column("number of the disorder sample", kind=int),
    "seed_index": Column("number of the seed", kind=int),
    "queries": Column("queries of the row", "count", kind=int),
    "max_steps": Column("updates or sweeps at which a query is cut", "count", kind=int),
    "overlap": Column("mean of x·ξ/N, of ξ·x/‖ξ‖² for real vectors, where the dynamics end", "−1 to 1"),
    "steps": Column("updates or sweeps until the dynamics end, mean over queries", "count"),
    "step": Column("number of the step that the row is of", kind=int),
    "cycles": Column("queries that ended in a cycle of two", "count of queries", kind=int),
    "step_limit": Column("queries that were cut at max_steps", "count of queries", kind=int),
    "entropy": Column("−Σ p ln p of the weights, mean over queries", "nats"),
    "energy": Column("energy of the state, as its memory defines it"),
    "seconds": Column("wall time", "s"),
    "auc": Column("area under the ROC curve", "0 to 1"),
}
"""Columns that several experiments mean alike."""
ENDS = {"_stderr": "standard error of {}", "_low": "lower end of {}", "_high": "upper end of {}"}
"""Ends of the names of columns that every column brings along, with their meaning."""


def shared(*names: str) -> dict[str, Column]:
    """Columns of `SHARED` by name."""
    return {name: SHARED[name] for name in names}


def find(declared: Columns, name: str) -> Column | None:
    """Declaration of a column: its own, its numbered family's, or the column's whose error or end it is."""
    if name in declared:
        return declared[name]
    if number := re.search(r"_(\d+)$", name):
        family = declared.get(f"{name[: number.start()]}_*")
        return family and family._replace(meaning=family.meaning.replace("*", number[1]))
    for end, meaning in ENDS.items():
        if name.endswith(end) and (base := find(declared, name.removesuffix(end))) is not None:
            return Column(meaning.format(name.removesuffix(end)), base.unit)
    return None


def check(declared: Columns, row: Mapping[str, Any]) -> None:
    """Check that every column of a row is declared, and that every value is of the kind declared, or missing.

    Raises:
        InputError: a column is not declared; the sentence has the name nearest to it. Or a value is of another kind.
    """
    for name, value in row.items():
        if (column := find(declared, name)) is None:
            near = bounds.suggestion(name, declared)
            raise InputError(f"columns of a row must be declared in COLUMNS, got {name}{near}")
        if not _is_of(column.kind, value):
            wanted = f"{WORDS[column.kind]}, as COLUMNS declares it (kind={column.kind.__name__})"
            raise InputError(f"{name} of a row must be {wanted}, got {type(value).__name__} {value}")


def check_row(row: Mapping[str, Any], names: Sequence[str], declared: Columns | None, x_axis: str) -> None:
    """Check that a row has the columns of its point, those declared, and values of their kinds; else InputError."""
    if lacking := [name for name in names if name not in row]:
        raise InputError(f"a row must have the columns of its point, got one without {', '.join(lacking)}")
    for name, value in row.items():
        if isinstance(value, list | tuple | dict | set) or getattr(value, "shape", ()):
            raise InputError(f"{name} of a row must be one number or text, got {type(value).__name__} {value}")
        if isinstance(value, int) and abs(value) > sys.float_info.max:
            raise InputError(f"{name} of a row must be a number that a float holds, got {value.bit_length()} bits")
    if declared is not None:
        check(declared, row)
    elif x_axis not in row:
        raise InputError(f"X_AXIS must be a column of the table, got {x_axis}")


def _is_of(kind: type, value: Any) -> bool:
    """True if a value, of Python or one number of an array, may stand in a column of a kind."""
    plain = value.tolist() if hasattr(value, "tolist") else value
    if plain is None or (isinstance(plain, float) and plain != plain):
        return True
    if kind is str:
        return isinstance(plain, str | Enum)  # an Enum is kept as its name
    return type(plain) is kind or (kind is float and type(plain) is int)

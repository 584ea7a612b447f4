"""Columns of tables: the meaning and the unit of every number of a row.

`columns.py` of an experiment declares those of its table, with `shared` for what several experiments mean by one name:

    COLUMNS = shared("memory", "neurons", "load") | {"retained": Column("queries above 0.8", "count of queries")}

A column `beta_*` stands for `beta_0`, `beta_1` and so on, and every column also for its standard error, `_stderr`, and
the ends of its band, `_low` and `_high`. A row with any other column, one whose name is misspelt, stops the run.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from experiments import bounds
from experiments.contract import InputError


class Column(NamedTuple):
    """Column of a table: the meaning of its numbers, and their unit or range. The unit is empty if they have none."""

    meaning: str
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.meaning} ({self.unit})" if self.unit else self.meaning


Columns = Mapping[str, Column]

SHARED: Columns = {
    "memory": Column("name of the memory"),
    "dynamics": Column("dynamics of retrieval"),
    "corruption": Column("corruption of the start, clean or flip:0.1; clamp=true adds that the other units were held"),
    "ensemble": Column("ensemble that patterns are drawn from, or data set"),
    "task": Column("name of the task"),
    "data": Column("name of the data set"),
    "rule": Column("rule of learning, or optimiser"),
    "method": Column("name of the method"),
    "separation": Column("name of the separation"),
    "similarity": Column("name of the similarity"),
    "metric": Column("name of the metric"),
    "layer": Column("name, or number, of the layer"),
    "optimiser": Column("name of the optimiser, none before learning"),
    "neurons": Column("neurons N", "count"),
    "patterns": Column("patterns stored M", "count"),
    "load": Column("load of the patterns stored: M/N, M/Nⁿ⁻¹ or ln M / N, as the memory scales"),
    "beta": Column("inverse temperature β", "1/scores"),
    "kappa": Column("κ = β‖ξ‖²"),
    "temperature": Column("temperature T", "scores"),
    "sample": Column("number of the disorder sample"),
    "seed_index": Column("number of the seed"),
    "queries": Column("queries of the row", "count"),
    "max_steps": Column("updates or sweeps at which a query is cut", "count"),
    "overlap": Column("mean of x·ξ/N, of ξ·x/‖ξ‖² for real vectors, where the dynamics end", "−1 to 1"),
    "steps": Column("updates or sweeps until the dynamics end, mean over queries", "count"),
    "step": Column("number of the step that the row is of"),
    "cycles": Column("queries that ended in a cycle of two", "count of queries"),
    "step_limit": Column("queries that were cut at max_steps", "count of queries"),
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
    """The declaration of a column, itself, numbered, or as the error or an end of another; None if there is none."""
    if name in declared:
        return declared[name]
    if number := re.search(r"_(\d+)$", name):
        family = declared.get(f"{name[: number.start()]}_*")
        return family and Column(family.meaning.replace("*", number[1]), family.unit)
    for end, meaning in ENDS.items():
        if name.endswith(end) and (base := find(declared, name.removesuffix(end))) is not None:
            return Column(meaning.format(name.removesuffix(end)), base.unit)
    return None


def check(declared: Columns, names: Iterable[str]) -> None:
    """Check that every column of a row is declared.

    Raises:
        InputError: one is not declared; the sentence has the name nearest to it.
    """
    for name in names:
        if find(declared, name) is None:
            near = bounds.suggestion(name, declared)
            raise InputError(f"columns of a row must be declared in columns.py, got {name}{near}")

"""Memories in summaries, which may be made again where the code of a memory is not run: no name in a table runs code.

A finished run keeps what its table is read with of memories from outside the package (formula of the load, kind of
patterns); what their theory says stands in its estimates and lines.
"""

import contextlib
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

from experiments.contract import NUMBERS, InputError, Row, Summary, Table, records
from experiments.system.files import encode
from hopfield import memories
from hopfield.memories import Scaling
from hopfield.theory.base import Theory

MEMORIES = "memories"
"""Entry of a summary with what it keeps of memories from outside the package."""
_KEPT: ContextVar[dict[str, Row] | None] = ContextVar("kept", default=None)


class Kept(NamedTuple):
    """Facts kept of a memory whose code is not run, under the names of `hopfield.memories.Blueprint`: no theory."""

    symbol: str
    ensemble: str
    integer_fields: bool

    @property
    def scaling(self) -> Scaling:
        """Formula of its load, by which nothing is computed."""
        return Scaling(self.symbol, lambda num_patterns, neurons: float("nan"), lambda load, neurons: float("nan"))

    @property
    def theory(self) -> Theory:
        """Theory that predicts nothing."""
        return Theory()

    def failing(self, num_patterns: int, neurons: int) -> str:
        """No reason why it has no numbers."""
        return ""


def find(memory: str) -> Any:
    """A memory as `hopfield.memories.find` gives it, or what was kept of it."""
    kept = _KEPT.get()
    if kept is None or memory.partition(":")[0] in memories.names():
        return memories.find(memory)
    if memory not in kept:
        raise InputError(f"memory must be one that summary.json keeps, got {memory}")
    return Kept(**kept[memory])


def kept_of(table: Table) -> dict[str, Row]:
    """Rows that a finished run keeps of its memories from outside the package, by name."""
    found = {}
    for memory in table["memory"].unique() if "memory" in table else ():
        if isinstance(memory, str) and memory.partition(":")[0] not in memories.names():  # elsewhere it is a number
            with contextlib.suppress(ValueError):  # the name of an ensemble, or of another network
                of = memories.find(memory)
                found[memory] = Kept(of.scaling.symbol, of.ensemble, of.integer_fields)._asdict()
    return found


def again(summarise: Callable[[Table], Summary], table: Table, earlier: Sequence[Summary]) -> Summary:
    """Summary of a table for which no code of memories from outside the package is run.

    Args:
        summarise: the experiment's.
        table: the rows.
        earlier: summaries of runs of the same memories, from which their theory is taken.
    """
    kept = {name: row for each in earlier for name, row in each.more.get(MEMORIES, {}).items()}
    token = _KEPT.set(kept)
    try:
        anew = summarise(table)
    finally:
        _KEPT.reset(token)
    if not kept:
        return anew
    rows = [row for each in earlier for row in records(each.estimates)]
    lines = [row for each in earlier for row in records(each.lines)]
    theory = {_key(row): {name: row[name] for name in ("theory", "limit", "kind") if name in row} for row in rows}
    told = [row | (theory.get(_key(row), {}) if row.get("memory") in kept else {}) for row in records(anew.estimates)]
    drawn = {encode(row): row for row in lines if row.get("memory") in kept}
    return Summary(told, [*records(anew.lines), *drawn.values()], anew.notes, {**anew.more, MEMORIES: kept})


def _key(row: Row) -> str:
    return encode({name: value for name, value in row.items() if name not in NUMBERS})

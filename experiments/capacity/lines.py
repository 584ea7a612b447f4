"""Theory that a capacity figure draws, as lines beside the numbers of its table."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas

from experiments.capacity import theory
from experiments.contract import Row, Table
from experiments.shared import convergence, corruptions, pattern_sets
from experiments.shared.corruptions import CLEAN
from experiments.statistics.clusters import curves
from hopfield import memories
from hopfield.theory import bounds

CURVE = ["memory", "dynamics", "corruption", "neurons"]
SUCCESS = "share that passes"
"""Exact share of queries that pass, by load."""
HALF = "load at which half pass in theory"
LIMIT = "limit of the critical load"
PATTERNS = "critical number of patterns"
ONE_STEP = "neurons wrong after one step"
OVERLAP = "overlap of the retrieval state"
GARDNER = "Gardner's bound"


def headline_of(symbol: str) -> str:
    """Criterion of a memory by its load: weight where weights are probabilities in its theory, else retention."""
    return "target_weight" if symbol == "ln M / N" else "retained"


def bimodal(symbol: str) -> bool:
    """True if final overlaps have two peaks with nothing between them, by the formula of the load."""
    return symbol == "M / N"


def is_real(table: Table) -> bool:
    """True if patterns are real, or of several kinds."""
    return not set(table["ensemble"]) <= set(pattern_sets.DRAWN) or table["ensemble"].nunique() > 1


def are_compared(table: Table, symbols: dict[str, str]) -> bool:
    """True if memories are compared at one task: of real patterns, or where all count their load alike."""
    return is_real(table) or (len(symbols) > 1 and len(set(symbols.values())) == 1)


FEWEST = 3
"""Values of a memory's parameter that make a curve."""


def parameters_of(table: Table) -> dict[str, tuple[str, float]]:
    """Symbol and usual value of the parameter of each memory of random patterns that has one, by its name."""
    names = () if is_real(table) else table["memory"].str.partition(":")[0].unique()
    found = {name: memories.find(name).parameter for name in names if name in memories.names()}
    return {name: parameter for name, parameter in found.items() if parameter is not None}


def swept(table: Table, names: Iterable[str]) -> dict[str, Table]:
    """Rows of each of these memories that has several values of its parameter, by its name, in their order."""
    found = {name: table[table["memory"].str.partition(":")[0] == name] for name in names}
    return {name: rows for name, rows in found.items() if rows["memory"].nunique() >= FEWEST}


def ends_of(rows: Table) -> list[str]:
    """Names, as by `convergence.end`, of the states where dynamics end, each once, for all dynamics among the rows."""
    return list(dict.fromkeys(convergence.end_of_curve(part) for _, part in rows.groupby("dynamics", sort=False)))


def one_step_rows(table: Table) -> Table:
    """Rows whose errors of one step are shown: the first start; of several memories the largest size of each."""
    rows = table.dropna(subset="one_step_error")
    rows = rows[rows["corruption"] == rows["corruption"].iloc[0]] if len(rows) else rows
    if rows["memory"].nunique() > 1:
        return rows[rows["neurons"] == rows.groupby("memory")["neurons"].transform("max")]
    return rows[rows["dynamics"] == rows["dynamics"].iloc[0]] if len(rows) else rows


def overlap_rows(rows: Table) -> Table:
    """Rows of one memory whose final overlaps are shown: clean starts of the first dynamics."""
    return rows[(rows["corruption"] == CLEAN) & (rows["dynamics"] == rows["dynamics"].iloc[0])]


def of_table(table: Table, symbols: dict[str, str]) -> Iterator[Row]:
    """Lines of theory beside the rows of a table.

    Args:
        table: the rows.
        symbols: formula of the load of each memory.
    """
    if are_compared(table, symbols):
        yield {"quantity": GARDNER, "x": [float(bounds.gardner())], "y": []}
        for rows in swept(table, parameters_of(table)).values():
            for memory, own in rows.groupby("memory", sort=False):
                yield from _overlap(str(memory), overlap_rows(own))
        return
    alone = len(symbols) == 1 or not any(map(bimodal, symbols.values()))
    for memory, rows in table.groupby("memory", sort=False):
        criterion = headline_of(symbols[str(memory)])
        yield from _limits(str(memory), rows, criterion)
        for _, curve in rows.groupby(CURVE, sort=False):
            yield from _exact_shares(curve, criterion)
        yield from _of_converged(rows) if criterion == "target_weight" else ()
        yield from _overlap(str(memory), overlap_rows(rows)) if alone else ()
    yield from _one_step(one_step_rows(table))


def of_patterns(table: Table, counts: list[Row]) -> Iterator[Row]:
    """Lines of critical numbers of patterns against neurons: at the load's limit, through the measured sizes."""
    frame: Table = pandas.DataFrame(counts)
    frame = frame.loc[frame["ensemble"].isin(pattern_sets.DRAWN)] if counts else frame
    for family, rows in curves(frame, ["memory", "dynamics", "corruption", "criterion"]) if len(frame) else ():
        memory, size = family["memory"], rows["neurons"].to_numpy(float)
        own = table[(table["memory"] == memory) & (table["dynamics"] == family["dynamics"])]
        found = _limit(own, family["criterion"], family["corruption"], convergence.end_of_curve(own))
        if found is not None:
            grid = np.geomspace(size.min(), size.max(), 20) if size.max() > size.min() else size
            y = theory.patterns_at(memory, np.full_like(grid, found["x"][0]), grid)
            yield {**found, **family, "quantity": PATTERNS, "x": grid.tolist(), "y": y.tolist()}


def _about(curve: Table) -> dict[str, Any]:
    return {name: curve[name].iloc[0] for name in CURVE} | {"neurons": int(curve["neurons"].iloc[0])}


def _beta(rows: Table) -> float | None:
    beta = rows["beta"].iloc[0]
    return None if pandas.isna(beta) else float(beta)


def _limit(rows: Table, criterion: str, start: str, end: str) -> dict[str, Any] | None:
    """Critical load of one memory for N → ∞ from a start, with its kind. None without a theory."""
    memory, flipped = str(rows["memory"].iloc[0]), corruptions.flipped_fraction(start)
    load = theory.critical_load(memory, criterion, None, flipped, _beta(rows), end=end)
    about = {"memory": memory, "criterion": criterion, "corruption": start, "end": end}
    return None if load is None else {**about, "kind": theory.kind(memory, criterion), "x": [load], "y": []}


def _limits(memory: str, rows: Table, criterion: str) -> Iterator[Row]:
    """Critical loads for N → ∞ of every start, and of clean ones, and every state where dynamics end."""
    for start in dict.fromkeys([CLEAN, *rows["corruption"]]):
        for end in ends_of(rows):
            if (found := _limit(rows, criterion, start, end)) is not None:
                yield {"quantity": LIMIT, **found}


def _exact_shares(curve: Table, criterion: str) -> Iterator[Row]:
    """Exact share of queries of one curve that pass; if unknown, the load at which half should."""
    counts, loads = (np.sort(curve[name].unique()) for name in ("patterns", "load"))
    about, start = _about(curve), corruptions.flipped_fraction(curve["corruption"].iloc[0])
    exact = theory.success(about["memory"], criterion, about["neurons"], counts, start, _beta(curve))
    if exact is None:
        yield from _load_of_half(curve, criterion)
    else:
        yield {"quantity": SUCCESS, **about, "criterion": criterion, "x": loads.tolist(), "y": exact.tolist()}


def _load_of_half(curve: Table, criterion: str) -> Iterator[Row]:
    """Load at which theory lets half of the queries of one curve pass, at its number of neurons."""
    about, start = _about(curve), corruptions.flipped_fraction(curve["corruption"].iloc[0])
    even, end = bool((curve["patterns"] % 2 == 0).all()), convergence.end_of_curve(curve)
    size = about["memory"], criterion, about["neurons"]
    load = theory.critical_load(*size, start, _beta(curve), even=even, end=end)
    if load is not None:
        kind = theory.kind(about["memory"], criterion)
        yield {"quantity": HALF, **about, "criterion": criterion, "kind": kind, "x": [load], "y": [0.5]}


def _of_converged(rows: Table) -> Iterator[Row]:
    """Load at which half of the queries of the largest size, from the first start, should converge to the pattern."""
    if rows["converged_weight"].notna().any():
        first = rows["corruption"] == rows["corruption"].iloc[0]
        yield from _load_of_half(rows[first & (rows["neurons"] == rows["neurons"].max())], "converged_weight")


def _overlap(memory: str, rows: Table) -> Iterator[Row]:
    """Overlap of the retrieval state of an infinite network, at the loads of the rows, where dynamics end at rest."""
    known = len(rows) and theory.retained_overlap(memory, 0.01) is not None
    if known and convergence.end_of_curve(rows) == convergence.REST:
        loads = np.linspace(rows["load"].min(), rows["load"].max(), 120)
        kept = np.asarray(theory.retained_overlap(memory, loads))
        kind = theory.kind(memory, "retained")
        yield {"quantity": OVERLAP, "memory": memory, "kind": kind, "x": loads.tolist(), "y": kept.tolist()}


def _one_step(rows: Table) -> Iterator[Row]:
    """Exact share of neurons that are wrong after one step, of every memory and size."""
    for (memory, neurons), curve in rows.groupby(["memory", "neurons"], sort=False):
        counts, loads = (np.sort(curve[name].unique()) for name in ("patterns", "load"))
        start = corruptions.flipped_fraction(curve["corruption"].iloc[0])
        exact = theory.one_step_error(str(memory), int(neurons), counts, start, _beta(curve))
        if exact is not None:
            seen, about = exact > 1e-9, {"memory": memory, "neurons": int(neurons)}
            yield {"quantity": ONE_STEP, **about, "x": loads[seen].tolist(), "y": exact[seen].tolist()}

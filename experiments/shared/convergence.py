"""Convergence: in which kind of state the dynamics of a run end, which decides what theory applies.

Theory of retrieval states, replica-symmetric, annealed or of basins, is of states at rest, where several updates end. A
run of a single update ends one step from its start: the theory of one step applies to it, where there is one.
"""

import numpy as np

from experiments.contract import Row, Table
from experiments.shared.memories import find

REST, STEP, SWEEP = "rest", "step", "sweep"
WORDS = {REST: "converged", STEP: "after one update", SWEEP: "after one sweep"}
"""Words for the states where dynamics end."""
MOST = 0.01
"""Share of queries still moving at the last update, above which a result after several updates is said to be cut."""


def end(steps: int, dynamics: str = "synchronous") -> str:
    """Name of the states in which retrievals end: REST, or after a single update or sweep STEP or SWEEP.

    Args:
        steps: updates, or sweeps, at most.
        dynamics: synchronous or asynchronous.
    """
    if steps > 1:
        return REST
    return STEP if dynamics == "synchronous" else SWEEP


def end_of_curve(rows: Table) -> str:
    """Name of the states in which the queries of a curve end, as `end` gives it for its max_steps and dynamics."""
    dynamics = str(rows["dynamics"].iloc[0]) if "dynamics" in rows else "synchronous"
    return end(int(rows["max_steps"].min()), dynamics)


def cut_estimates(table: Table) -> list[Row]:
    """Share of all queries of a table that were still moving at the last update, where that was counted."""
    share = cut_share(table)
    about = {"quantity": "share cut at the step limit", "value": share, "headline": share > 0}
    return [] if np.isnan(share) else [about]


def cut_share(rows: Table, axis: str | None = None, value: float = np.nan) -> float:
    """Share of the queries of a curve that were still moving at the last update. NaN where that was not counted.

    Args:
        rows: of the curve, with columns queries and step_limit, the number of queries that were cut.
        axis: column along which a result was found; None for all rows.
        value: the result: the share is taken from the rows at the measured places next to it on either side.
    """
    if "step_limit" not in rows or rows["step_limit"].isna().any():
        return np.nan
    if axis is not None:
        places = np.unique(rows[axis])
        after = int(np.searchsorted(places, value))
        rows = rows[rows[axis].isin(places[max(after - 1, 0) : after + 1])]
    return float(rows["step_limit"].sum() / rows["queries"].sum())


def _where(lost: Table) -> str:
    """Words for the numbers of patterns at which states are not numbers, and why a memory of the most has none."""
    if not {"memory", "patterns", "neurons"} <= {*lost}:
        return ""
    most = lost.loc[lost["patterns"].idxmax()]
    reason = find(str(most["memory"])).failing(int(most["patterns"]), int(most["neurons"]))
    counts = f"M = {lost['patterns'].min()}" + (f" to {most['patterns']}" if lost["patterns"].nunique() > 1 else "")
    return f", all of {counts}" + (f": {reason}" if reason else "")


def notes(table: Table, family: list[str], held: str) -> list[str]:
    """Warnings for every family of rows: states that are not finite, single updates, and queries that still move.

    After several updates, the warning comes where more than `MOST` of the queries were cut; after a single one, where
    any was. The share is over the rows in which at least half of the queries hold their pattern, if several updates
    were made and there are such rows: queries that have lost their pattern move for long and do not find it again.

    Args:
        table: with columns max_steps, queries and step_limit, the number of queries that were cut; without step_limit
            no warning is of movement. Its `overlap`, if there is one, is null in a row with a state that is NaN.
        family: columns that tell one family from another by name.
        held: column of the number of queries that end at their pattern.
    """
    lines = []
    for key, rows in table.groupby(family, sort=False) if "overlap" in table else ():
        if lost := int(rows["overlap"].isna().sum()):
            name = ", ".join(map(str, key))
            lines.append(
                f"{name}: states of {lost} of {len(rows)} rows are not numbers, and count as not {held}"
                + _where(rows[rows["overlap"].isna()])
            )
    table = table.dropna(subset=["step_limit"]) if "step_limit" in table else table[:0]
    for key, rows in table.groupby([*family, "max_steps"], sort=False):
        *names, steps = key
        holding = rows[2 * rows[held] >= rows["queries"]] if steps > 1 else rows
        rows = holding if len(holding) else rows
        share = rows["step_limit"].sum() / rows["queries"].sum()
        if share > (MOST if end(steps) == REST else 0):
            rest = "theory beside them is of states at rest" if steps > 1 else "no theory of states at rest is theirs"
            moving = f"{100 * share:.3g}% of the queries were still moving at max_steps={steps}"
            lines.append(f"{', '.join(map(str, names))}: {moving}; {rest}")
    return lines

"""Theory of critical initial overlaps where dynamics end: at rest, after one update, and none after one sweep."""

import numpy as np

from experiments.contract import Table
from experiments.shared import convergence
from experiments.shared.memories import find
from hopfield.theory.base import Float, Line

ONE_STEP = r"one step, $N\to\infty$"
"""Label of the start from which one update leaves an overlap of `near`."""


def lines(rows: Table, loads: Float) -> list[Line]:
    """Lines of critical initial overlaps of one memory, size and dynamics. The first is the one to compare with.

    Args:
        rows: the rows that they are drawn beside.
        loads: where.
    """
    first, end = rows.iloc[0], convergence.end_of_curve(rows)
    beta = float(first["beta"]) if np.isfinite(first["beta"]) else None
    if end == convergence.REST:
        return find(first["memory"]).theory.basins(first["dynamics"], int(first["neurons"]), beta, loads)
    if end != convergence.STEP:
        return []
    return _single(str(first["memory"]), beta, float(first["near"]), loads)


def nearest_share(rows: Table, overlaps: Float) -> Float | None:
    """Share of queries at these overlaps that end right if the nearest pattern wins, at one load. None before rest."""
    if convergence.end_of_curve(rows) != convergence.REST:
        return None
    first = rows.iloc[0]
    return find(first["memory"]).theory.nearest_share(int(first["neurons"]), int(first["patterns"]), overlaps)


def _single(memory: str, beta: float | None, near: float, loads: Float) -> list[Line]:
    """Line of initial overlaps at which one step leaves (1 − near)/2 of the spins wrong. Empty without a theory."""
    theory, starts = find(memory).theory, np.linspace(0.0, 1.0, 401)[1:]
    known = {"error": (1 - near) / 2, "beta": beta}
    found = [theory.critical_load("one_step_error", corruption=(1 - start) / 2, **known) for start in starts]
    if found[-1] is None:
        return []
    reached = np.maximum.accumulate([0.0 if load is None else load for load in found])
    return [Line(ONE_STEP, loads, np.interp(loads, np.append(0.0, reached), np.append(0.0, starts), right=np.nan))]

"""Pieces of a run: the work behind its points, divided into rows of the ledger that all of its processes share.

One process holds the claim of a run's directory; it measures the pieces, then the points, and writes the results.
Others that are given the same run measure pieces meanwhile. Each piece is claimed by itself, so that no two processes
measure one, and one whose process is gone is taken over.
"""

import time
from collections.abc import Sequence

from tqdm import tqdm

from experiments.contract import Point, Row
from experiments.runner import folders, locks
from experiments.runner.planning import Plan

PATIENCE = 0.5
"""Seconds between two looks at pieces that other processes are at."""


def finish(plan: Plan, points: Sequence[Point]) -> list[Row]:
    """Rows of all pieces behind points, measured here or awaited from other processes. Empty if work has no pieces."""
    wanted = _pieces(plan, points)
    if not wanted:
        return []
    kept = len(wanted) - len(plan.ledger.missing(wanted))
    with tqdm(total=len(wanted), initial=kept, desc=plan.job.conf, unit="piece", disable=None) as bar:
        while plan.ledger.missing(wanted):
            if not _share(plan, wanted, bar):
                time.sleep(PATIENCE)
                plan.ledger.reload()
        bar.update(len(wanted) - bar.n)
    return plan.ledger.rows(wanted)


def help(plan: Plan) -> bool:
    """Measure missing pieces of a run that another process has begun. Returns whether any was measured."""
    record = folders.read(plan.job.directory)
    if record is None or record.complete or record.rows != plan.science.rows:  # not begun, over, or something else
        return False
    plan.ledger.reload()
    wanted = _pieces(plan, plan.ledger.missing(plan.points))
    if not plan.ledger.missing(wanted):
        return False
    with tqdm(total=len(wanted), desc=f"{plan.job.conf}, shared", unit="piece", disable=None) as bar:
        return _share(plan, wanted, bar)


def progress(plan: Plan, points: Sequence[Point]) -> str:
    """Number of kept pieces behind points, in words. Empty if no piece is kept."""
    wanted = _pieces(plan, points)
    kept = len(wanted) - len(plan.ledger.missing(wanted))
    return f", and {kept} of {len(wanted)} pieces of the others," if kept else ""


def _pieces(plan: Plan, points: Sequence[Point]) -> list[Point]:
    divide = getattr(plan.experiment, "pieces", None)
    return divide(plan.job.config, points) if divide is not None and points else []


def _share(plan: Plan, wanted: Sequence[Point], bar: tqdm) -> bool:
    """Measure the missing pieces that no other process has claimed. Returns whether any was measured."""
    measured = False
    for piece in plan.ledger.missing(wanted):
        with locks.claimed(plan.job.directory, plan.ledger.key(piece)) as holder:
            if holder is not None:
                continue
            plan.ledger.reload()  # another process may have been faster
            if plan.ledger.missing([piece]):
                plan.ledger.record(piece, plan.experiment.measure_piece(plan.job.config, piece))
                measured = True
        bar.update(len(wanted) - len(plan.ledger.missing(wanted)) - bar.n)
    return measured

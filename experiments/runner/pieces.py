"""Pieces of a run: long work behind its points, in rows of the ledger, so that a killed run goes on from the last."""

from collections.abc import Sequence

from experiments.contract import Point, Row
from experiments.runner import boundary
from experiments.runner.planning import Plan
from experiments.system import terminal


def finish(plan: Plan, points: Sequence[Point]) -> list[Row]:
    """Rows of all pieces behind points; missing pieces are measured. Empty if work has no pieces."""
    wanted = behind(plan, points)
    measure(plan, plan.ledger.missing(wanted), len(wanted))
    return plan.ledger.rows(wanted)


def measure(plan: Plan, missing: Sequence[Point], total: int) -> None:
    """Measure missing pieces out of a total, each on disk before the next."""
    if not missing:
        return
    about = {"total": total, "initial": total - len(missing), "desc": plan.job.conf, "unit": "piece"}
    for piece in terminal.progress(iterable=missing, **about):
        plan.ledger.record(piece, plan.experiment.measure_piece(plan.job.config, piece))
        boundary.stop_if_asked()


def progress(plan: Plan, points: Sequence[Point]) -> str:
    """Number of kept pieces behind points, in words. Empty if no piece is kept."""
    wanted = behind(plan, points)
    kept = len(wanted) - len(plan.ledger.missing(wanted))
    return f", and {kept} of {len(wanted)} pieces of the others," if kept else ""


def behind(plan: Plan, points: Sequence[Point]) -> list[Point]:
    """Pieces of the work behind points."""
    divide = getattr(plan.experiment, "pieces", None)
    return divide(plan.job.config, points) if divide is not None and points else []

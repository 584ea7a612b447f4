"""Summary of the asymptotic capacity experiment: both thresholds of every curve, beside theory."""

import numpy as np
from scipy.special import ndtri
from scipy.stats import norm

from experiments.capacity_asymptotic.theory import spin_load, thresholds
from experiments.contract import Table
from experiments.shared import corruptions
from experiments.statistics.clusters import curves
from experiments.statistics.columns import headline
from experiments.statistics.crossings import parabolic_crossing
from hopfield.theory import exponential

CURVE = ["method", "neurons", "corruption"]
MEASURED = ("queries", "heavy", "log_odds", "log_odds_stderr", "error", "error_stderr")


def summarise(table: Table) -> dict:
    """Both thresholds of every curve with errors, beside exact finite-size theory and the limit.

    All loads of a draw of enumerated patterns share them: the errors there are those over draws.
    """
    entries = []
    for curve, rows in curves(table, CURVE):
        beta = float(rows["beta"].iloc[0])
        flipped = corruptions.flipped_fraction(curve["corruption"])
        assert flipped is not None
        limits = thresholds(beta, flipped)
        measured = _crossings(rows, shared=curve["method"] == "enumerated")
        theory = {
            "weight": float(exponential.critical_load(curve["neurons"], beta, flipped)),
            "spin": spin_load(curve["neurons"], beta, flipped, limits["spin"]),
        }
        for criterion, (load, stderr) in measured.items():
            entry = {"load": load, "stderr": stderr, "theory": theory[criterion], "limit": limits[criterion]}
            entries.append(curve | {"criterion": criterion} | entry)
    return {"thresholds": entries, "scalars": _scalars(entries)}


def _crossings(rows: Table, shared: bool) -> dict[str, tuple[float | None, float | None]]:
    """Both thresholds of one curve and their errors: over draws that all loads share, else of independent queries."""
    pivots = {name: rows.pivot(index="sample", columns="load", values=name) for name in MEASURED}
    load, cells = np.unique(rows["load"]), {name: cell.fillna(0.0).to_numpy(float) for name, cell in pivots.items()}
    asked = cells["queries"]
    draws = len(asked)
    kept = np.vstack([np.ones(draws), (1 - np.eye(draws))[: draws if shared else 0]])  # all draws, all but each of them
    with np.errstate(divide="ignore", invalid="ignore"):  # all but the only one
        queries = kept @ asked
        share = kept @ cells["heavy"] / queries
        odds, wrong = (kept @ (asked * cells[name]) / queries for name in ("log_odds", "error"))
        # In probits the share is nearly straight; its error there is that of the share over the normal density.
        inside = np.clip(share, 0.5 / queries, 1 - 0.5 / queries)
        probit = -ndtri(inside)
    odds_error, wrong_error = (
        np.sqrt(np.sum((asked * cells[name]) ** 2, axis=0)) / queries[0] for name in ("log_odds_stderr", "error_stderr")
    )
    # Rows of shared draws have no error, and where no spin was wrong none is not its size.
    wrong_error = np.maximum(wrong_error, _binomial(wrong[0] * shared, queries[0]))
    weight = probit, _binomial(inside[0], queries[0]) / norm.pdf(probit[0]), 0.0
    # Where the share is a step between two loads, the median of the log-odds still passes zero smoothly.
    if np.sum((share[0] > 0.05) & (share[0] < 0.95)) < 5:
        weight = -odds, odds_error, 0.0
    return {
        name: parabolic_crossing(load, value[0], stderr, level, left_out=value[1:] if shared else None)
        for name, (value, stderr, level) in {"weight": weight, "spin": (wrong, wrong_error, 0.25)}.items()
    }


def _binomial(share: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Binomial standard error of a share of independent queries, with at least half a query on either side."""
    share = np.clip(share, 0.5 / queries, 1 - 0.5 / queries)
    return np.sqrt(share * (1 - share) / queries)


def _scalars(found: list[dict]) -> dict[str, float]:
    scalars = {}
    for entry in found:
        if entry["load"] is not None:
            name = f"{entry['criterion']}/{entry['method']}/N={entry['neurons']}"
            name += "" if entry["corruption"] == corruptions.CLEAN else f"/{entry['corruption']}"
            scalars |= headline(name, entry["load"], entry["stderr"], theory=entry["theory"], limit=entry["limit"])
    return scalars

"""Summary of the asymptotic capacity experiment: both thresholds of every curve, beside theory."""

from typing import Any, cast

import numpy as np
from scipy.special import ndtri
from scipy.stats import norm

from experiments.capacity_asymptotic.theory import spin_load, thresholds
from experiments.figures.style import Table
from experiments.shared import corruptions
from hopfield.theory import exponential

RESOLUTION = 1e-9
"""Least error of a threshold: that of a load written with double precision and interpolated."""
CURVE = ["method", "neurons", "corruption"]


def summarise(table: Table) -> dict:
    """Both thresholds of every curve with errors, beside exact finite-size theory and the limit."""
    found = []
    for key, rows in table.groupby(CURVE, sort=False):
        curve = dict(zip(CURVE, cast(tuple, key), strict=True))
        beta = float(rows["beta"].iloc[0])
        flipped = corruptions.flipped(curve["corruption"])
        assert flipped is not None
        limits = thresholds(beta, flipped)
        share = rows["heavy"] / rows["queries"]
        # In probits the share is nearly straight; its error there is that of the share over the normal density.
        inside = np.clip(share, 0.5 / rows["queries"], 1 - 0.5 / rows["queries"])
        probit = -ndtri(inside)
        spread = np.sqrt(inside * (1 - inside) / rows["queries"]) / norm.pdf(probit)
        # Where the share is a step between two loads, the median of the log-odds still passes zero smoothly.
        steep = np.sum((share > 0.05) & (share < 0.95)) < 5
        weight = (-rows["log_odds"], rows["log_odds_stderr"], 0.0) if steep else (probit, spread, 0.0)
        measured = {
            "weight": crossing(rows["load"], *weight),
            "spin": crossing(rows["load"], rows["error"], rows["error_stderr"], 0.25),
        }
        theory = {
            "weight": float(exponential.critical_load(curve["neurons"], beta, flipped)),
            "spin": spin_load(curve["neurons"], beta, flipped, limits["spin"]),
        }
        for criterion, (load, stderr) in measured.items():
            entry = {"load": load, "stderr": stderr, "theory": theory[criterion], "limit": limits[criterion]}
            found.append(curve | {"criterion": criterion} | entry)
    return {"thresholds": found, "scalars": _scalars(found)}


def crossing(load: Any, value: Any, stderr: Any, level: float) -> tuple[float | None, float | None]:
    """Load at which a rising quantity passes a level, from a parabola through the five points nearest to it.

    Returns:
        The load and its error, which holds what a straight line would give instead; None where no two neighbouring
        points enclose the level.
    """
    load, value, stderr = (np.asarray(x, float) for x in (load, value, stderr))
    order = [i for i in np.argsort(load) if np.isfinite(value[i])]
    load, value, stderr = load[order], value[order] - level, np.maximum(stderr[order], 1e-12)
    passed = np.flatnonzero((value[:-1] < 0) & (value[1:] >= 0))
    if not len(passed):
        return None, None
    i = int(passed[np.argmin(np.abs(value[passed]))])
    first = min(max(i - 1 - int(value[i + 1] > -value[i]), 0), max(len(load) - 5, 0))
    used = slice(first, first + 5)
    middle = load[i] - value[i] * (load[i + 1] - load[i]) / (value[i + 1] - value[i])
    found = []
    for degree in (min(2, len(load[used]) - 1), 1):
        design = np.vander(load[used] - middle, degree + 1, increasing=True) / stderr[used, None]
        best, *_ = np.linalg.lstsq(design, value[used] / stderr[used], rcond=None)
        spread = np.sqrt(np.linalg.pinv(design.T @ design)[0, 0])
        found.append((middle - best[0] / best[1], spread / abs(best[1])))
    (best, error), (straight, _) = found
    if not load[i] - (load[i + 1] - load[i]) <= best <= load[i + 1] + (load[i + 1] - load[i]):
        return None, None
    return float(best), float(np.sqrt(error**2 + (0.1 * (best - straight)) ** 2 + RESOLUTION**2))


def _scalars(found: list[dict]) -> dict[str, float]:
    scalars = {}
    for entry in found:
        if entry["load"] is not None:
            name = f"{entry['criterion']}/{entry['method']}/N={entry['neurons']}"
            name += "" if entry["corruption"] == corruptions.CLEAN else f"/{entry['corruption']}"
            scalars |= {name: entry["load"], f"{name}/stderr": entry["stderr"]}
    return scalars

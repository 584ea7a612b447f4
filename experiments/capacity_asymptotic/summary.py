"""Summary of the asymptotic capacity experiment: both thresholds of every curve, beside theory."""

import numpy as np
from scipy.special import ndtri
from scipy.stats import norm

from experiments.capacity_asymptotic.theory import spin_load, thresholds
from experiments.figures.style import Table
from experiments.shared import corruptions
from experiments.statistics.clusters import curves
from experiments.statistics.crossings import parabolic_crossing
from hopfield.theory import exponential

CURVE = ["method", "neurons", "corruption"]


def summarise(table: Table) -> dict:
    """Both thresholds of every curve with errors, beside exact finite-size theory and the limit."""
    found = []
    for curve, rows in curves(table, CURVE):
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
            "weight": parabolic_crossing(rows["load"], *weight),
            "spin": parabolic_crossing(rows["load"], rows["error"], rows["error_stderr"], 0.25),
        }
        theory = {
            "weight": float(exponential.critical_load(curve["neurons"], beta, flipped)),
            "spin": spin_load(curve["neurons"], beta, flipped, limits["spin"]),
        }
        for criterion, (load, stderr) in measured.items():
            entry = {"load": load, "stderr": stderr, "theory": theory[criterion], "limit": limits[criterion]}
            found.append(curve | {"criterion": criterion} | entry)
    return {"thresholds": found, "scalars": _scalars(found)}


def _scalars(found: list[dict]) -> dict[str, float]:
    scalars = {}
    for entry in found:
        if entry["load"] is not None:
            name = f"{entry['criterion']}/{entry['method']}/N={entry['neurons']}"
            name += "" if entry["corruption"] == corruptions.CLEAN else f"/{entry['corruption']}"
            scalars |= {name: entry["load"], f"{name}/stderr": entry["stderr"]}
    return scalars

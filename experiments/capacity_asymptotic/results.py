"""Results of the asymptotic capacity experiment: both thresholds of every curve, beside theory."""

from typing import cast

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri
from scipy.stats import norm

from experiments.contract import Summary, Table
from experiments.figures import panel
from experiments.figures.panel import Axis, Panel, Series, level
from experiments.figures.style import ordered, series
from experiments.shared import corruptions
from experiments.shared.corruptions import CLEAN
from experiments.statistics.clusters import curves
from experiments.statistics.crossings import parabolic_crossing
from hopfield.theory import exponential


def thresholds(beta: float, corruption: float) -> dict[str, float]:
    """Both loads for N → ∞."""
    return {
        "weight": float(exponential.target_weight_load(beta, corruption)),
        "spin": float(exponential.one_step_load(beta, corruption)),
    }


def spin_load(neurons: int, beta: float, corruption: float, near: float) -> float | None:
    """Load at which the exact one-step error is a quarter. None where that takes too long or does not happen."""

    def excess(load: float) -> float:
        num_patterns = float(round(np.exp(load * neurons)))
        return float(exponential.one_step_error(neurons, num_patterns, beta, corruption)) - 0.25

    low, high = near - 0.02, near + 0.08
    if neurons > 200 or low * neurons < 1 or excess(low) > 0 or excess(high) < 0:
        return None
    return float(cast(float, brentq(excess, low, high, xtol=1e-5)))


CURVE = ["method", "neurons", "corruption"]
MEASURED = ("queries", "heavy", "log_odds", "log_odds_stderr", "error", "error_stderr")


def summarise(table: Table) -> Summary:
    """Both thresholds of every curve with errors, beside exact finite-size theory and the limit.

    All loads of a draw of enumerated patterns share them: the errors there are those over draws.
    """
    entries = []
    for curve, rows in curves(table, CURVE):
        beta, draws = float(rows["beta"].iloc[0]), rows["sample"].nunique()
        flipped = corruptions.flipped_fraction(curve["corruption"])
        assert flipped is not None
        limits = thresholds(beta, flipped)
        measured = _crossings(rows, shared=curve["method"] == "enumerated")
        theory = {
            "weight": float(exponential.critical_load(curve["neurons"], beta, flipped)),
            "spin": spin_load(curve["neurons"], beta, flipped, limits["spin"]),
        }
        for criterion, (load, stderr) in measured.items():
            entry = {"value": load, "stderr": stderr, "theory": theory[criterion], "limit": limits[criterion]}
            about = {"quantity": THRESHOLD, "threshold": criterion, **curve, **entry}
            entries.append(about | {"kind": "exact", "samples": draws, "headline": load is not None})
    return Summary(entries)


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
        # In probits the share is nearly straight; its error there is the share's over the normal density.
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


THRESHOLD = "threshold"
NAMES = {"weight": "weight above ½", "spin": "a quarter of spins wrong"}
EXACT = {"color": "0.4", "linestyle": "-", "linewidth": 0.9}
LIMIT = {"color": "black", "marker": "_", "markersize": 12}
LOAD = r"load $\ln M / N$"


def panels(table: Table, summary: Summary) -> list[Panel]:
    """Thresholds against 1/N beside their limits, and the shares of queries and spins lost from the first start."""
    first = table["corruption"].iloc[0]
    rows = _sum_samples(table[table["corruption"] == first])
    looks = ordered([str(size) for size in rows["neurons"].unique()])
    small = {size: look | {"markersize": 3} for size, look in looks.items()}
    shown = [_thresholds(summary.of(THRESHOLD))]
    for name, title, label, half in (
        ("light", "weight", "queries without half of the weight", 0.5),
        ("spins", "one-step error", "wrong spins after one step", 0.25),
    ):
        found = panel.curves(rows, "load", name, by="neurons", label="$N={}$", looks=small)
        title = f"{title}, {corruptions.label(first)}"
        shown.append(Panel(title, Axis(LOAD), Axis(label), [*found, level(half, "level of the threshold")]))
    return shown


def _thresholds(found: Table) -> Panel:
    found = found.assign(start=found["corruption"], place=1 / found["neurons"])
    keys = list(dict.fromkeys(zip(found["threshold"], found["start"], strict=True)))
    shown = []
    for key, look in zip(keys, series([str(key) for key in keys]).values(), strict=True):
        rows = found[(found["threshold"] == key[0]) & (found["start"] == key[1])]
        label = NAMES[key[0]] + ("" if key[1] == CLEAN else f", {corruptions.label(key[1])}")
        for method, face, size in (("sampled", look["color"], 4.5), ("enumerated", "none", 8)):
            part = rows[(rows["method"] == method) & rows["value"].notna()]
            mark = {"color": look["color"], "marker": look["marker"], "markerfacecolor": face, "markersize": size}
            shown.append(Series(part["place"], part["value"], part["stderr"], label=label, **mark))
            label = ""
        exact = rows[(rows["method"] == "sampled") & rows["theory"].notna()].sort_values("neurons")
        shown.append(Series(exact["place"], exact["theory"], **EXACT | {"color": look["color"]}))
        shown.append(Series([0], [rows["limit"].iloc[0]], **LIMIT))
    shown.append(panel.entry("patterns enumerated", marker="o", color="0.4", markerfacecolor="none", markersize=8))
    shown += [panel.entry("exact theory at $N$", **EXACT)] if found["theory"].notna().any() else []
    shown.append(panel.entry(r"exact theory, $N \to \infty$", **LIMIT))
    x = Axis(r"$1/N$", limits=(0, None))
    return Panel("thresholds against 1/N", x, Axis(r"threshold $\ln M / N$"), shown)


def _sum_samples(rows: Table) -> Table:
    """Shares of the sampled queries of each size and load, in the order of both."""
    rows = rows[rows["method"] == "sampled"].assign(wrong=rows["error"] * rows["queries"])
    sums = rows.groupby(["neurons", "load"])[["queries", "heavy", "wrong"]].sum().reset_index()
    return sums.assign(light=1 - sums["heavy"] / sums["queries"], spins=sums["wrong"] / sums["queries"])

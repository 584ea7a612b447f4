"""Results of relaxation: correlation and escape times by load, and the load where the first diverge."""

import math
from typing import Any

import numpy as np
import pandas

from experiments.contract import Row, Summary, Table
from experiments.figures import panel
from experiments.figures.panel import Axis, Panel, Series, level, upright
from experiments.figures.style import ordered
from experiments.relaxation import theory
from experiments.statistics.clusters import clustered_mean, curves
from experiments.statistics.estimates import tidy
from experiments.statistics.lines import straight_line

CURVE = ["degree", "temperature", "neurons", "around", "patterns", "load"]
NETWORK = ["degree", "temperature", "neurons"]
STAYED = 0.95
"""Share of starts that never left from which a load counts for the divergence."""


def summarise(table: Table) -> Summary:
    """Times and overlaps of every load with errors over draws, and the loads of divergence beside the spinodal."""
    times = [_times(curve, rows) for curve, rows in curves(table, CURVE)]
    divergences: list[dict] = []
    for network, _ in curves(table, NETWORK):
        same = [entry for entry in times if all(entry[name] == network[name] for name in NETWORK)]
        divergences.append(network | _divergence(same))
    lines = [
        {"quantity": TIMES["time"], **curve, "x": [0.0], "y": [theory.time_without_load(**curve)]}
        for curve, _ in curves(table, ["degree", "temperature"])
    ]
    return Summary([*divergences, *_estimates(times)], lines)


DIVERGENCE = "divergence"
TIMES = {"time": "correlation time", "escape": "escape time", "overlap": "overlap"}


def _estimates(times: list[dict]) -> list[Row]:
    """Times of every load; times of the largest network of each degree and temperature are headlines."""
    found, of = [], CURVE
    for quantity in TIMES:
        known = [entry for entry in times if entry[quantity] is not None]
        found += tidy(
            pandas.DataFrame(known, columns=[*of, quantity, f"{quantity}_stderr", f"{quantity}_samples"]),
            of,
            {quantity: TIMES[quantity]},
        )
    largest = {}
    for row in found:
        network = row["degree"], row["temperature"]
        largest[network] = max(row["neurons"], largest.get(network, 0))
    told = lambda row: row["quantity"] != "overlap" and row["neurons"] == largest[row["degree"], row["temperature"]]
    return [row | {"headline": told(row)} for row in found]


def _times(curve: dict, rows: Table) -> dict:
    """Times of one load: correlation of starts that stayed, escape by the number of escapes in all sweeps made."""
    rate = clustered_mean(rows["left"] / rows["exposure"], rows["sample"], rows["exposure"])
    entry = curve | {"spinodal": theory.spinodal_load(curve["degree"], curve["temperature"])}
    entry |= {"starts": len(rows), "left": int(rows["left"].sum())}
    entry |= {"escape": None, "escape_stderr": None, "overlap": None, "overlap_stderr": None}
    entry |= {"time": None, "time_stderr": None}
    if rate.mean > 0:
        entry |= {"escape": 1 / rate.mean, "escape_stderr": rate.stderr / rate.mean**2, "escape_samples": rate.clusters}
    for name, column in (("time", "time"), ("overlap", "mean")):
        stayed = rows[(rows["left"] == 0) & rows[column].notna()]  # an overlap that stands still has no time
        if len(stayed):
            estimate = clustered_mean(stayed[column], stayed["sample"])
            entry |= {name: estimate.mean, f"{name}_stderr": estimate.stderr, f"{name}_samples": estimate.clusters}
    return entry


def _sweeps_made(rows: Table) -> int | None:
    """Number of sweeps made. Tables without it give the exposure of starts that never left; None without any."""
    made = rows["observed"] if "observed" in rows else rows.loc[rows["left"] == 0, "exposure"]
    return int(made.max()) if made.notna().any() else None


def _divergence(times: list[dict]) -> dict:
    """Load at which a line through 1/τ², as near a saddle-node, falls to zero; by weighted least squares."""
    entry: Row = {"quantity": DIVERGENCE, "value": None, "limit": times[0]["spinodal"], "kind": "replica symmetric"}
    used = [e for e in times if e["time"] is not None and e["left"] <= (1 - STAYED) * e["starts"]]
    used = [e for e in used if e["time_stderr"] > 0]
    if len(used) < 3:
        return entry
    load, time, error = (np.array([e[name] for e in used]) for name in ("load", "time", "time_stderr"))
    fit = straight_line(load, 1 / time**2, 2 * error / time**3)
    if fit.slope >= 0:
        return entry
    gradient = np.array([-1 / fit.slope, fit.height / fit.slope**2])
    stderr = math.sqrt(gradient @ fit.covariance @ gradient)
    found = {"value": -fit.height / fit.slope, "stderr": stderr, "chi2": fit.chi2, "dof": fit.dof}
    return entry | found | {"headline": True}


def panels(table: Table, summary: Summary) -> list[Panel]:
    """Two panels for every degree and temperature, with sizes by colour."""
    shown = []
    for curve, rows in curves(table, ["degree", "temperature"]):
        spinodal = summary.of(DIVERGENCE, **curve)["limit"].iloc[0]
        looks = ordered([str(size) for size in sorted(rows["neurons"].unique())])
        time, escape = (_times_panel(summary.of(TIMES[name], **curve), spinodal, looks) for name in ("time", "escape"))
        alone, observed = summary.line(TIMES["time"], **curve).iloc[0], _sweeps_made(rows)
        time.append(Series(alone["x"], alone["y"], label=r"exact theory, $\alpha=0$", marker="_", markersize=12))
        if observed is not None:  # beyond these, times are estimates from the few queries that left
            escape.append(level(observed, "sweeps observed; above: extrapolated", color="0.6", linestyle=":"))
        where = rf"$n={curve['degree']}$, $T={curve['temperature']:g}$, $\alpha_M={spinodal:.3g}$"
        x = Axis(r"load $\alpha/\alpha_M(T)$", limits=(-0.03, None))
        last = upright(1.0, "spinodal, replica symmetric")
        shown.append(
            Panel(f"correlation time, {where}", x, Axis(r"correlation time $\tau$ / sweeps", "log"), [*time, last])
        )
        shown.append(Panel(f"escape, {where}", x, Axis("escape time / sweeps", "log"), [*escape, last]))
    return shown


def _times_panel(rows: Table, spinodal: float, looks: dict[str, Any]) -> list[Series]:
    """Times with errors, whose bars end at a tenth of their value where they would reach down to nothing."""
    if rows.empty:
        return []
    rows = rows.assign(relative=rows["load"] / spinodal).sort_values("neurons", kind="stable")
    found = panel.curves(rows, "relative", "value", by="neurons", label="$N={}$", looks=looks)
    for part in found:
        part.error = None if part.error is None else [part.error[0].clip(max=0.9 * part.y), part.error[1]]
    return found

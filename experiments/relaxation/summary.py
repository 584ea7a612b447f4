"""Summary of relaxation: correlation and escape times by load, and the load where the first diverge."""

import math

import numpy as np

from experiments.contract import Table
from experiments.relaxation import theory
from experiments.statistics.clusters import clustered_mean, curves
from experiments.statistics.columns import distinct_name, headline
from experiments.statistics.lines import straight_line

CURVE = ["degree", "temperature", "neurons", "around", "patterns", "load"]
NETWORK = ["degree", "temperature", "neurons"]
STAYED = 0.95
"""Share of starts that never left from which a load counts for the divergence."""


def summarise(table: Table) -> dict:
    """`times` of every load with errors over draws, and `divergences`, beside the spinodal load."""
    times = [_times(curve, rows) for curve, rows in curves(table, CURVE)]
    divergences: list[dict] = []
    for network, _ in curves(table, NETWORK):
        divergences.append(
            network | _divergence([e for e in times if all(e[name] == network[name] for name in NETWORK)])
        )
    return {"times": times, "divergences": divergences, "scalars": _scalars(times, divergences)}


def _times(curve: dict, rows: Table) -> dict:
    """Times of one load: correlation of starts that stayed, escape by the number of escapes in all sweeps made."""
    rate = clustered_mean(rows["left"] / rows["exposure"], rows["sample"], rows["exposure"])
    entry = curve | {"spinodal": theory.spinodal_load(curve["degree"], curve["temperature"])}
    entry |= {"starts": len(rows), "left": int(rows["left"].sum()), "observed": _sweeps_made(rows)}
    entry |= {"escape": None, "escape_stderr": None, "overlap": None, "overlap_stderr": None}
    entry |= {"time": None, "time_stderr": None}
    if rate.mean > 0:
        entry |= {"escape": 1 / rate.mean, "escape_stderr": rate.stderr / rate.mean**2}
    for name, column in (("time", "time"), ("overlap", "mean")):
        stayed = rows[(rows["left"] == 0) & rows[column].notna()]  # an overlap that stands still has no time
        if len(stayed):
            estimate = clustered_mean(stayed[column], stayed["sample"])
            entry |= {name: estimate.mean, f"{name}_stderr": estimate.stderr}
    return entry


def _sweeps_made(rows: Table) -> int | None:
    """Number of sweeps made. Tables without it give the exposure of starts that never left; None without any."""
    made = rows["observed"] if "observed" in rows else rows.loc[rows["left"] == 0, "exposure"]
    return int(made.max()) if made.notna().any() else None


def _divergence(times: list[dict]) -> dict:
    """Load at which a line through 1/τ², as near a saddle-node, falls to zero; by weighted least squares."""
    entry = {"load": None, "stderr": None, "chi2": None, "dof": None, "spinodal": times[0]["spinodal"]}
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
    return entry | {"load": -fit.height / fit.slope, "stderr": stderr, "chi2": fit.chi2, "dof": fit.dof}


def _scalars(times: list[dict], divergences: list[dict]) -> dict[str, float]:
    """Loads of divergence, and the times of every load of the largest network of each degree and temperature."""
    scalars = {}
    for entry in divergences:
        if entry["load"] is not None:
            name = f"divergence/{_name(entry)}/N={entry['neurons']}"
            scalars |= headline(name, entry["load"], entry["stderr"], spinodal=entry["spinodal"])
    for entry in times:
        mine = [e["neurons"] for e in times if _name(e) == _name(entry)]
        for kind in ("time", "escape") if entry["neurons"] == max(mine) else ():
            if entry[kind] is not None:
                name = distinct_name(scalars, f"{kind}/{_name(entry)}/load={{}}", entry["load"], 4)
                scalars |= headline(name, entry[kind], entry[f"{kind}_stderr"])
    return scalars


def _name(entry: dict) -> str:
    return f"n={entry['degree']}/T={entry['temperature']:g}"

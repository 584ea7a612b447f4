"""Results of relaxation: correlation and escape times by load, and the load where the first diverge."""

import math

import numpy as np
import pandas

from experiments.contract import Table
from experiments.figures import panel
from experiments.figures.panel import Axis, Panel, Series, level, upright
from experiments.figures.style import ordered
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


def panels(table: Table, summary: dict) -> list[Panel]:
    """Two panels for every degree and temperature, with sizes by colour."""
    times: Table = pandas.DataFrame(summary["times"])
    times = times.assign(relative=times["load"] / times["spinodal"])
    groups = [rows for _, rows in times.groupby(["degree", "temperature"], sort=False)]
    return [panel for rows in groups for panel in (_correlation(rows), _escape(rows))]


def _correlation(rows: Table) -> Panel:
    alone = theory.time_without_load(int(rows["degree"].iloc[0]), float(rows["temperature"].iloc[0]))
    mark = Series([0], [alone], label=r"theory, $\alpha=0$", marker="_", markersize=12)
    return _panel("correlation time", rows, [*_times_panel(rows, "time"), mark], r"correlation time $\tau$ / sweeps")


def _escape(rows: Table) -> Panel:
    """Escape times; beyond the sweeps observed they are estimates from the few queries that left, and drawn open."""
    observed = rows["observed"].dropna()
    found = _times_panel(rows, "escape")
    if len(observed):
        found.append(level(observed.max(), "sweeps observed; above: extrapolated", color="0.6", linestyle=":"))
    return _panel("escape", rows, found, "escape time / sweeps")


def _times_panel(rows: Table, name: str) -> list[Series]:
    """Times with errors, whose bars end at a tenth of their value where they would reach down to nothing."""
    looks = ordered([str(size) for size in sorted(rows["neurons"].unique())])
    rows = rows[rows[name].notna()]
    rows = rows.assign(**{f"{name}_stderr": rows[f"{name}_stderr"].astype(float)})
    found = panel.curves(
        rows.sort_values("neurons", kind="stable"), "relative", name, by="neurons", label="$N={}$", looks=looks
    )
    for part in found:
        part.error = None if part.error is None else [part.error[0].clip(max=0.9 * part.y), part.error[1]]
    return found


def _panel(what: str, rows: Table, found: list[Series], label: str) -> Panel:
    degree, temperature = int(rows["degree"].iloc[0]), float(rows["temperature"].iloc[0])
    title = rf"{what}, $n={degree}$, $T={temperature:g}$, $\alpha_M={rows['spinodal'].iloc[0]:.3g}$"
    x = Axis(r"load $\alpha/\alpha_M(T)$", limits=(-0.03, None))
    return Panel(title, x, Axis(label, "log"), [*found, upright(1.0, "spinodal, replica symmetric")])

"""Results of overlaps in time: means beside theory, and shares retained by the time of observation."""

from math import hypot
from typing import Any, cast

import numpy as np
import pandas

from experiments.contract import Table
from experiments.figures import panel
from experiments.figures.panel import Axis, Panel, curves, theory_line
from experiments.figures.style import THEORY, series
from experiments.overlap_dynamics import theory
from experiments.statistics.clusters import by_group, means_by_group
from experiments.statistics.columns import distinct_name, headline

CURVE = ["degree", "neurons", "around", "patterns", "load", "overlap"]


def summarise(table: Table) -> dict:
    """`times`: mean overlap and share retained after every number of steps, with theory where it is defined.

    Theory is that of `start_overlap`, the overlap asked for as whole spins meet it.
    """
    times = []
    for key, rows in table.groupby(CURVE, sort=False):
        times += _times(dict(zip(CURVE, cast(tuple, key), strict=True)), rows)
    return {"times": times, "scalars": _scalars(times)}


def _times(curve: dict, rows: Table) -> list[dict]:
    degree, neurons = int(curve["degree"]), int(curve["neurons"])
    start = theory.start(neurons, curve["overlap"])
    curve = curve | {"start_overlap": start}
    mean = means_by_group(rows, ["step"], "final", "sample")
    share = by_group(rows, ["step"], "retained", "queries", "sample")
    exact_limit = theory.course(degree, curve["load"], start, max(int(x) for x in mean["step"]))
    found = []
    for i, step in enumerate(int(x) for x in mean["step"]):
        entry = curve | {"step": step, "m": float(mean["mean"].iloc[i]), "m_stderr": float(mean["stderr"].iloc[i])}
        entry |= {"share": float(share["mean"].iloc[i]), "share_stderr": float(share["stderr"].iloc[i])}
        exact = (
            theory.first_step_overlap(degree, neurons, int(curve["patterns"]), curve["overlap"]) if step == 1 else None
        )
        known = theory.neurodynamics(degree, curve["load"], start, step)
        drawn = [float(value[step]) if step < len(value) else None for value in exact_limit]
        entry |= dict(zip(("generating_functional", "generating_functional_stderr"), drawn, strict=True))
        found.append(entry | {"exact": exact, "neurodynamics": known})
    return found


def _scalars(times: list[dict]) -> dict[str, float]:
    """Share of first steps within two errors of exact theory, and m after the longest time of every curve."""
    first = [e for e in times if e["exact"] is not None and e["m_stderr"] > 0]
    apart = [abs(e["m"] - e["exact"]) / e["m_stderr"] for e in first]
    scalars = {"first_steps_within_two_standard_errors": float(np.mean(np.array(apart) <= 2))} if first else {}
    scalars |= _later_step_scalars(times)
    longest = max(entry["step"] for entry in times)
    for entry in times:
        if entry["step"] == longest:
            name = f"m/n={entry['degree']}/N={entry['neurons']}/load={{}}/m0={entry['overlap']:g}"
            name = distinct_name(scalars, name, entry["load"], 4)
            scalars |= headline(name, entry["m"], entry["m_stderr"], theory=entry["neurodynamics"])
    return scalars


def _later_step_scalars(times: list[dict]) -> dict[str, float]:
    """Steps 2 to 20 at the largest N of each degree: largest difference from each theory, share within two errors."""
    largest = {entry["degree"]: max(e["neurons"] for e in times if e["degree"] == entry["degree"]) for entry in times}
    later = [e for e in times if e["step"] > 1 and e["generating_functional"] is not None]
    later = [e for e in later if e["neurons"] == largest[e["degree"]]]
    scalars = {}
    for degree in largest:
        for name in ("generating_functional", "neurodynamics"):
            apart = [abs(e["m"] - e[name]) for e in later if e["degree"] == degree]
            scalars |= {f"largest_difference/n={degree}/{name}": max(apart)} if apart else {}
        with_error = [e for e in later if e["degree"] == degree and e["m_stderr"] > 0]
        near = [
            abs(e["m"] - e["generating_functional"]) <= 2 * hypot(e["m_stderr"], e["generating_functional_stderr"])
            for e in with_error
        ]
        scalars |= {f"within_two_standard_errors/n={degree}": float(np.mean(near))} if near else {}
    return scalars


def panels(table: Table, summary: dict) -> list[Panel]:
    """One panel for every degree and load, with starts by colour."""
    times: Table = pandas.DataFrame(summary["times"])
    largest = times[times["neurons"] == times.groupby("degree")["neurons"].transform("max")]
    return [_panel(rows) for _, rows in largest.groupby(["degree", "patterns"])]


def _panel(rows: Table) -> Panel:
    looks = series([str(overlap) for overlap in sorted(rows["start_overlap"].unique())])
    degree, last, load = int(rows["degree"].iloc[0]), int(rows["step"].max()), float(rows["load"].iloc[0])
    grid = [*range(1, min(last, 20) + 1), *range(21, last + 1, max(1, last // 40))]
    older, functional = _lines(last)
    points = {name: look | {"linestyle": "", "markersize": 4} for name, look in looks.items()}
    found = curves(
        rows.sort_values("start_overlap"), "step", "m", by="start_overlap", label="$m(0)={:.3g}$", looks=points
    )
    for overlap, look in looks.items():
        start = cast(float, float(overlap))
        line = [theory.neurodynamics(degree, load, start, step) for step in grid]
        exact = theory.course(degree, load, start, last).overlap[1:]
        found.append(theory_line(grid, line, **older | {"color": look["color"]}))
        found.append(theory_line(range(1, len(exact) + 1), exact, **functional | {"color": look["color"]}))
    name = "Amari & Maginu" if degree == theory.CLASSICAL else "map of one step, iterated"
    found += [panel.entry(name, **older), panel.entry(r"generating functional, $N\to\infty$", **functional)]
    size, share = int(rows["neurons"].iloc[0]), load / theory.critical_load(degree)
    title = rf"$n={degree}$, $N={size}$, $\alpha={load:.3g}={share:.3g}\,\alpha_c$"
    x = Axis("synchronous steps $t$", "log", (0.5, 2) if last == 1 else (None, None))
    return Panel(title, x, Axis("overlap $m(t)$", limits=(-0.05, 1.05)), found)


def _lines(last: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Looks of both theories. After a single step they are marks, since a line would have no length."""
    if last > 1:
        return THEORY, THEORY | {"linestyle": "-"}
    mark = {"linestyle": "", "markersize": 10}
    return THEORY | mark | {"marker": "_"}, THEORY | mark | {"marker": "x"}

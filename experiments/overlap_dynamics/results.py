"""Results of overlaps in time: means beside theory, and shares retained by the time of observation."""

from math import hypot
from typing import Any

import numpy as np
import pandas

from experiments.contract import Row, Summary, Table
from experiments.figures import panel
from experiments.figures.panel import Axis, Panel, curves, theory_line
from experiments.figures.style import THEORY, series
from experiments.overlap_dynamics import theory
from experiments.overlap_dynamics.theory import CLASSICAL
from experiments.statistics.clusters import by_group, means_by_group
from experiments.statistics.clusters import curves as curves_of
from experiments.statistics.estimates import tidy

CURVE = ["degree", "neurons", "around", "patterns", "load", "overlap"]
OF = ["degree", "neurons", "patterns", "load", "start_overlap", "step"]
OVERLAP, SHARE_OF = "overlap", "share retained"
FUNCTIONAL, MAP = "generating functional", "neurodynamics"
LATEST = 20
"""Steps that are held against theory: the generating functional's."""


def summarise(table: Table) -> Summary:
    """Mean overlap and share retained after every number of steps, with theory where defined.

    Theory takes the overlap of the start, `start_overlap`, which whole spins meet; of the first step it is exact
    at N, of later ones `limit` is neurodynamics for N → ∞.
    """
    estimates: list[Row] = []
    for curve, rows in curves_of(table, CURVE):
        estimates += _times(curve, rows)
    overlaps = [row for row in estimates if row["quantity"] == OVERLAP]
    longest = max(row["step"] for row in overlaps)
    estimates = [row | {"headline": row in overlaps and row["step"] == longest} for row in estimates]
    first = [
        abs(row["value"] - row["theory"]) / row["stderr"] for row in overlaps if "theory" in row and row["stderr"] > 0
    ]
    if first:
        within = float(np.mean(np.array(first) <= 2))
        estimates.append({"quantity": "first steps within two standard errors", "value": within, "headline": True})
    largest = [
        row for row in overlaps if row["neurons"] == max(r["neurons"] for r in overlaps if r["degree"] == row["degree"])
    ]
    limits = [
        {"quantity": "critical load", "degree": int(n), "x": [theory.critical_load(int(n))], "y": [0.0]}
        for n in table["degree"].unique()
    ]
    lines = [line for (curve, rows) in curves_of(pandas.DataFrame(largest), OF[:-1]) for line in _theory(curve, rows)]
    return Summary([*estimates, *_later_steps(largest, lines)], [*lines, *limits])


def _times(curve: dict, rows: Table) -> list[Row]:
    degree, neurons, start = (
        int(curve["degree"]),
        int(curve["neurons"]),
        theory.start(curve["neurons"], curve["overlap"]),
    )
    mean = means_by_group(rows, ["step"], "final", "sample")
    share = by_group(rows, ["step"], "retained", "queries", "sample")
    about = {name: curve[name] for name in OF[:4]} | {"start_overlap": start}
    found = tidy(mean.assign(**about), OF, {"mean": OVERLAP}) + tidy(share.assign(**about), OF, {"mean": SHARE_OF})
    for row in found[: len(mean)]:
        row |= {"limit": theory.neurodynamics(degree, curve["load"], start, row["step"]), "kind": MAP}
        if row["step"] == 1:
            exact = theory.first_step_overlap(degree, neurons, int(curve["patterns"]), curve["overlap"])
            row |= {"theory": exact, "kind": "exact"}
    return found


def _theory(curve: dict, rows: Table) -> list[Row]:
    """Both theories for N → ∞ along the steps of one curve."""
    last, start = int(rows["step"].max()), (int(curve["degree"]), curve["load"], curve["start_overlap"])
    grid = [*range(1, min(last, LATEST) + 1), *range(LATEST + 1, last + 1, max(1, last // 40))]
    course = theory.course(*start, last)
    steps = [int(step) for step in range(1, len(course.overlap))]
    about = {"quantity": OVERLAP, **curve}
    known = about | {"kind": FUNCTIONAL, "x": steps, "y": list(map(float, course.overlap[1:]))}
    known["error"] = list(map(float, course[1][1:]))
    return [about | {"kind": MAP, "x": grid, "y": [theory.neurodynamics(*start, step) for step in grid]}, known]


def _later_steps(overlaps: list[Row], lines: list[Row]) -> list[Row]:
    """Steps 2 to 20 at the largest N of each degree: largest difference from each theory, share within two errors."""
    functional = {
        (*(line[name] for name in OF[:-1]), step): (y, error)
        for line in lines
        if line["kind"] == FUNCTIONAL
        for step, y, error in zip(line["x"], line["y"], line["error"], strict=True)
    }
    found: list[Row] = []
    for degree in dict.fromkeys(row["degree"] for row in overlaps):
        known = [(row, functional.get(tuple(row[name] for name in OF))) for row in overlaps if row["degree"] == degree]
        later = [(row, exact) for row, exact in known if row["step"] > 1 and exact is not None]
        apart = {
            FUNCTIONAL: [abs(row["value"] - exact[0]) for row, exact in later],
            MAP: [abs(row["value"] - row["limit"]) for row, _ in later],
        }
        for name, differences in apart.items() if later else ():
            about = {"quantity": f"largest difference from {name}", "degree": degree}
            found.append({**about, "value": max(differences), "headline": True})
        near = [
            abs(row["value"] - exact[0]) <= 2 * hypot(row["stderr"], exact[1])
            for row, exact in later
            if row["stderr"] > 0
        ]
        if near:
            about = {"quantity": "within two standard errors", "degree": degree}
            found.append({**about, "value": float(np.mean(near)), "headline": True})
    return found


def panels(table: Table, summary: Summary) -> list[Panel]:
    """One panel for every degree and load, with starts by colour."""
    times = summary.of(OVERLAP)
    largest = times[times["neurons"] == times.groupby("degree")["neurons"].transform("max")]
    return [_panel(rows, summary) for _, rows in largest.groupby(["degree", "patterns"])]


def _panel(rows: Table, summary: Summary) -> Panel:
    looks = series([str(overlap) for overlap in sorted(rows["start_overlap"].unique())])
    degree, last, load = int(rows["degree"].iloc[0]), int(rows["step"].max()), float(rows["load"].iloc[0])
    older, functional = _lines(last)
    points = {name: look | {"linestyle": "", "markersize": 4} for name, look in looks.items()}
    rows = rows.sort_values("start_overlap")
    found = curves(rows, "step", "value", by="start_overlap", label="$m(0)={:.3g}$", looks=points)
    for start in dict.fromkeys(rows["start_overlap"]):
        about = {"degree": degree, "patterns": rows["patterns"].iloc[0], "start_overlap": start}
        for kind, look in ((MAP, older), (FUNCTIONAL, functional)):
            line, color = summary.line(OVERLAP, **about, kind=kind).iloc[0], looks[str(start)]["color"]
            found.append(theory_line(line["x"], line["y"], **look | {"color": color}))
    name = "Amari & Maginu" if degree == CLASSICAL else "map of one step, iterated"
    found += [panel.entry(name, **older), panel.entry(r"generating functional, $N\to\infty$", **functional)]
    size, share = int(rows["neurons"].iloc[0]), load / summary.line("critical load", degree=degree)["x"].iloc[0][0]
    title = rf"$n={degree}$, $N={size}$, $\alpha={load:.3g}={share:.3g}\,\alpha_c$"
    x = Axis("synchronous steps $t$", "log", (0.5, 2) if last == 1 else (None, None))
    return Panel(title, x, Axis("overlap $m(t)$", limits=(-0.05, 1.05)), found)


def _lines(last: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Looks of both theories. After a single step they are marks, since a line would have no length."""
    if last > 1:
        return THEORY, THEORY | {"linestyle": "-"}
    mark = {"linestyle": "", "markersize": 10}
    return THEORY | mark | {"marker": "_"}, THEORY | mark | {"marker": "x"}

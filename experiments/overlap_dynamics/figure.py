"""Figure of overlaps in time: m(t) by degree and load beside neurodynamics, of the largest network of each."""

from typing import Any, cast

import pandas

from experiments.contract import Table
from experiments.figures.panel import Axis, Panel, curves, entry, theory_line
from experiments.figures.style import THEORY, series
from experiments.overlap_dynamics import theory


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
    found += [entry(name, **older), entry(r"generating functional, $N\to\infty$", **functional)]
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

"""Figure of the detection of novel queries: areas under the ROC curve, and the weight left over."""

import pandas

from experiments.contract import Table
from experiments.figures.panel import Axis, Panel, Series, curves, entry, guide, theory_line
from experiments.figures.style import THEORY, series


def panels(table: Table, summary: dict) -> list[Panel]:
    """Areas against the number of patterns and κ, and left-over weights at the middle κ, with theory as lines."""
    areas: Table = pandas.DataFrame(summary["areas"])
    areas = areas[areas["neurons"] == areas["neurons"].max()].rename(columns={"stderr": "auc_stderr"})
    kappas = sorted(areas["kappa"].unique())
    middle, last = kappas[len(kappas) // 2], areas["overlap"].max()
    size = sorted(areas["patterns"].unique())[areas["patterns"].nunique() // 2]
    at_kappa, at_size = areas[areas["kappa"] == middle], areas[areas["patterns"] == size]
    count, inverse = (
        Axis("number of patterns $M$", "log"),
        Axis(r"inverse temperature $\kappa$", "log", ticks=[(kappa, f"{kappa:g}") for kappa in kappas]),
    )
    return [
        _areas(f"$D={areas['neurons'].max()}$, " + rf"$\kappa={middle:g}$", count, at_kappa, "patterns"),
        _areas(f"$D={areas['neurons'].max()}$, $M={size}$", inverse, at_size, "kappa"),
        _weight_left(rf"$\kappa={middle:g}$, overlap {last:g}", count, at_kappa[at_kappa["overlap"] == last]),
    ]


def _areas(title: str, axis: Axis, rows: Table, name: str) -> Panel:
    looks = series([f"{overlap}" for overlap in sorted(rows["overlap"].unique())])
    found = curves(rows, name, "auc", by="overlap", theory="theory", label="overlap {:g}", looks=looks)
    found += [entry("theory", **THEORY), guide(0.5)]
    area = Axis("area under the ROC curve", limits=(0.45, 1.03))
    return Panel(title, axis, area, found, legend="bars: one standard error")


def _weight_left(title: str, axis: Axis, rows: Table) -> Panel:
    rows, found = rows.sort_values("patterns"), []
    for name, look in series(["novel", "known"]).items():
        measured = Series(rows["patterns"], rows[f"left_{name}"], **look | {"linestyle": ""}, label=f"{name} query")
        found += [measured, theory_line(rows["patterns"], rows[f"theory_{name}"], color=look["color"])]
    return Panel(title, axis, Axis("weight left over", "log"), [*found, entry("annealed theory", **THEORY)])

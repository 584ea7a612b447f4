"""Figure of learning from examples: overlaps against their number, and how many are needed against the load."""

import numpy as np
import pandas

from experiments.contract import Table
from experiments.examples.config import RULES
from experiments.figures.panel import Axis, Panel, Series, curves, entry, theory_line
from experiments.figures.style import THEORY, ordered
from hopfield.theory import examples as theory

EXAMPLES = Axis("examples $A$ of each pattern", "log")


def panels(table: Table, summary: dict) -> list[Panel]:
    """Of every rule the overlaps at the middle load, and the examples that half of the patterns need."""
    states: Table = pandas.DataFrame(summary["states"])
    needed: Table = pandas.DataFrame(summary["needed"])
    size, loads = states["neurons"].max(), sorted(states["load"].unique())
    states, needed = states[states["neurons"] == size], needed[needed["neurons"] == size]
    looks = ordered([f"{quality}" for quality in sorted(states["quality"].unique())])
    shown = []
    for rule, rows in states.groupby("rule", sort=False):
        load = loads[len(loads) // 2]
        shown.append(_overlaps(rows[rows["load"] == load], f"{rule}, $N={size}$, $\\alpha={load:.3f}$", looks))
    for rule, rows in needed.groupby("rule", sort=False):
        shown.append(_needed(rows, str(rule), f"{rule}: half retained", looks))
    return shown


def _overlaps(rows: Table, title: str, looks: dict) -> Panel:
    found = curves(rows, "examples", "overlap", by="quality", label="$r={:g}$", looks=looks)
    counts = np.unique(np.round(np.geomspace(rows["examples"].min(), rows["examples"].max(), 40)).astype(int))
    for series, quality in zip(found, dict.fromkeys(rows["quality"]), strict=True):
        series.linestyle = ""
        supervised = rows["rule"].iloc[0] == RULES[0]
        line = [float(theory.overlap(rows["load"].iloc[0], quality, int(a), supervised=supervised)) for a in counts]
        found = [*found, theory_line(counts, line, color=series.color)]
    found.append(entry("replica symmetric", **THEORY))
    return Panel(title, EXAMPLES, Axis("overlap with the pattern", limits=(None, 1.03)), found)


def _needed(rows: Table, rule: str, title: str, looks: dict) -> Panel:
    found: list[Series] = []
    line = np.linspace(0.5 * rows["load"].min(), 1.1 * rows["load"].max(), 25)
    for quality, part in rows.groupby("quality", sort=False):
        look = looks[f"{quality}"]
        bars = Series(
            part["load"], part["examples"], part["stderr"], label=f"$r={quality:g}$", **look | {"linestyle": ""}
        )
        least = [theory.examples_needed(float(load), float(quality), supervised=rule == RULES[0]) for load in line]
        least = np.where(np.isfinite(least), least, np.nan)
        found += [bars, theory_line(line, least, color=look["color"])]
    found.append(entry("least with a retrieval state, $N\\to\\infty$", **THEORY))
    return Panel(title, Axis(r"load $\alpha = M/N$"), Axis("examples $A$ needed", "log"), found)

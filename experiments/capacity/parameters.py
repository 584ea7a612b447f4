"""Panels of one memory at several values of its parameter: critical loads against them, and final overlaps."""

import numpy as np

from experiments.capacity import lines
from experiments.capacity.panels import limit_label, load_label, mean_overlap, settings
from experiments.capacity.starts import against_place
from experiments.contract import Summary, Table, records
from experiments.figures import labels
from experiments.figures.panel import Axis, Panel, curves, entry, theory_line
from experiments.figures.style import THEORY, series


def panels(table: Table, summary: Summary, critical: Table) -> list[Panel]:
    """Critical load against the parameter, and overlap against load, of each memory with several values of it.

    Args:
        table: rows whose loads count alike.
        summary: of them.
        critical: critical loads of one criterion.
    """
    shown = []
    known = summary.more.get("parameters", {})
    for name, rows in lines.swept(table, known).items():
        shown.append(_critical(critical[critical["memory"].isin(rows["memory"])], name, *known[name]))
        shown.append(_overlaps(lines.overlap_rows(rows), summary, name))
    return shown


def _words(name: str) -> str:
    return labels.memory(name).partition(",")[0]


def _critical(rows: Table, name: str, symbol: str, usual: float) -> Panel:
    """Critical loads; a real parameter, which is 0 or some powers of ten, on a logarithmic scale from 1 on."""
    values = rows["memory"].map(lambda memory: float(memory.partition(":")[2] or usual))
    places, ticks = values, None
    if isinstance(usual, float):
        places = np.log10(1 + values)
        ticks = [(place, f"{value:g}") for place, value in sorted(set(zip(places, values, strict=True)))]
    found = against_place(rows.assign(place=places), ["dynamics", "neurons", "corruption"])
    return Panel(f"critical load, {_words(name)}", Axis(f"${symbol}$", ticks=ticks), Axis("critical load"), found)


def _overlaps(rows: Table, summary: Summary, name: str) -> Panel:
    """Overlap of all queries where they end at the largest size, a curve for each value."""
    rows = rows[rows["neurons"] == rows["neurons"].max()]
    looks, means = series(list(rows["memory"])), mean_overlap(rows, ["memory", "load"])
    means = means.sort_values("memory", key=lambda names: names.map({name: place for place, name in enumerate(looks)}))
    plain = {memory: look | {"linestyle": ""} for memory, look in looks.items()}
    theory = summary.line(lines.OVERLAP)
    known = [line for line in records(theory) if line["memory"] in looks]
    found = curves(means, "load", "mean", by="memory", label=labels.memory, looks=plain if known else looks)
    found += [theory_line(line["x"], line["y"], color=looks[line["memory"]]["color"]) for line in known]
    found += [entry(limit_label({**known[0], "criterion": "retained"}), **THEORY)] if known else []
    x = Axis(load_label(summary.more["symbols"][rows["memory"].iloc[0]]))
    legend = f"$N={rows['neurons'].iloc[0]}$, {settings(rows, summary)}"
    return Panel(f"final overlap, {_words(name)}", x, Axis("final overlap $m$"), found, legend=legend)

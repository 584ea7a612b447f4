"""Figure of a table of ways to compute attention: time, memory and error against length."""

from collections.abc import Callable

from experiments.contract import Table
from experiments.figures.panel import Axis, Panel, curves
from experiments.figures.style import series

PASSES = {"forward": "one pass forwards", "backward": "forwards and backwards"}


def panels(table: Table, summary: dict) -> list[Panel]:
    """Time, memory and error against length, a line for each method."""
    looks = series(list(dict.fromkeys(table["method"])))
    direction = "backward" if "backward" in set(table["pass"]) else "forward"
    measured = table[table["pass"] == direction]
    errors = table[(table["pass"] == "forward") & (table["method"] != "dense")]
    quantities = (
        (measured, "seconds", "time (s)", f"time, {PASSES[direction]}"),
        (measured, "megabytes", "memory (MB)", f"memory, {PASSES[direction]}"),
        (errors, "error", "relative error", "error against dense attention"),
    )
    shown = []
    for rows, name, label, title in quantities:
        found = curves(rows[rows[name] > 0], "length", name, by="method", looks=looks, label=_labels(measured))
        shown.append(Panel(title, Axis("length $T$", "log"), Axis(label, "log"), found))
    return shown


def _labels(rows: Table) -> Callable[[str], str]:
    """Names of methods, with the greatest length of one that was not measured at longer ones."""
    most = rows.groupby("method")["length"].max()
    return lambda method: str(method) + ("" if most[method] == most.max() else f" (to $T={most[method]}$)")

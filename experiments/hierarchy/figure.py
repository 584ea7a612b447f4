"""Figure of the hierarchical memory: digits found against stored numbers, and errors of hidden pixels."""

from typing import Any

import pandas

from experiments.contract import Table
from experiments.figures.panel import SHARE, Axis, Panel, curves, entry
from experiments.figures.style import series
from experiments.hierarchy.config import FLAT


def panels(table: Table, summary: dict) -> list[Panel]:
    """Three panels for each number of hidden quadrants."""
    loads: Table = pandas.DataFrame(summary["loads"])
    looks = series([str(parts) for parts in dict.fromkeys(loads["parts"])])
    return [panel for hidden, rows in loads.groupby("hidden") for panel in _of_hidden(rows, f"{hidden} of 4", looks)]


def _name(parts: int) -> str:
    return "flat" if parts == FLAT else f"$K={parts}$ parts"


def _of_hidden(rows: Table, hidden: str, looks: dict[str, Any]) -> list[Panel]:
    """Shares found, digits found by stored numbers, and errors of hidden pixels."""
    shared: dict[str, Any] = {"by": "parts", "label": _name, "looks": looks}
    hollow = {name: look | {"markerfacecolor": "white", "linestyle": ":"} for name, look in looks.items()}
    others = curves(rows, "patterns", "error_other", by="parts", label=lambda parts: "", looks=hollow)
    grey = entry("not stored", color="0.4", linestyle=":", marker="o", markerfacecolor="white")
    digits, share = Axis("stored digits $M$", "log"), Axis("share found", limits=(SHARE[0], 1.05))
    numbers, found = Axis("numbers stored", "log"), Axis("digits found, of all stored", "log")
    completion = [*curves(rows, "patterns", "error", **shared), *others, grey]
    return [
        Panel(f"{hidden} quadrants hidden", digits, share, curves(rows, "patterns", "share", **shared)),
        Panel(
            f"capacity by what is stored, {hidden} hidden", numbers, found, curves(rows, "numbers", "found", **shared)
        ),
        Panel(f"completion, {hidden} hidden", digits, Axis("error of a hidden pixel", limits=(0, None)), completion),
    ]

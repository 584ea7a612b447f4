"""Results of the hierarchical memory: digits found, stored numbers, and digits found by a flat memory of equal size."""

from typing import Any, cast

import numpy as np
import pandas

from experiments.contract import Summary, Table
from experiments.figures import panel
from experiments.figures.panel import SHARE, Axis, Panel, curves
from experiments.figures.style import series
from experiments.hierarchy.config import FLAT
from experiments.statistics.clusters import by_group, means_by_group
from experiments.statistics.estimates import tidy

CURVE = ["parts", "hidden"]


def summarise(table: Table) -> Summary:
    """Means at every number of digits, and digits found relative to a flat memory with as many stored numbers."""
    loads = []
    for key, rows in table.groupby(CURVE, sort=False):
        loads += _loads(dict(zip(CURVE, cast(tuple, key), strict=True)), rows)
    gain = [found for entry in loads if entry["parts"] != FLAT and (found := _gain(entry, loads)) is not None]
    of, last = [*CURVE, "patterns", "numbers"], max(entry["patterns"] for entry in loads)
    estimates = tidy(pandas.DataFrame(loads), of, QUANTITIES) + gain
    told = ("share of digits found", "gain")
    return Summary([row | {"headline": row["quantity"] in told and row["patterns"] == last} for row in estimates])


QUANTITIES = {
    "share": "share of digits found",
    "found": "digits found",
    "error": "error of a hidden pixel",
    "error_other": "error of a hidden pixel, not stored",
}


def _loads(curve: dict, rows: Table) -> list[dict]:
    """Share of digits found, how many these are, and errors of hidden pixels."""
    share = by_group(rows, ["patterns"], "right", "asked", "sample")
    errors = {name: means_by_group(rows, ["patterns"], name, "sample") for name in ("error", "error_other")}
    numbers = rows.groupby("patterns")["numbers"].first()
    found = []
    for i, num_patterns in enumerate(int(x) for x in share["patterns"]):
        entry = curve | {"patterns": num_patterns, "numbers": int(numbers[num_patterns])}
        entry |= {"share": float(share["mean"].iloc[i]), "share_stderr": float(share["stderr"].iloc[i])}
        entry |= {"found": num_patterns * entry["share"], "found_stderr": num_patterns * entry["share_stderr"]}
        for name, means in errors.items():
            entry |= {name: float(means["mean"].iloc[i]), f"{name}_stderr": float(means["stderr"].iloc[i])}
        found.append(entry)
    return found


def _gain(entry: dict, loads: list[dict]) -> dict | None:
    """Digits found over digits found by a flat memory of equal size, interpolated. None outside the sizes measured."""
    flat = sorted(
        (e["numbers"], e["found"], e["found_stderr"])
        for e in loads
        if e["parts"] == FLAT and e["hidden"] == entry["hidden"] and e["found"] > 0
    )
    if len(flat) < 2 or not flat[0][0] <= entry["numbers"] <= flat[-1][0] or entry["found"] == 0:
        return None
    numbers, found, stderr = np.array(flat).T
    at = np.log(entry["numbers"])
    beside = float(np.exp(np.interp(at, np.log(numbers), np.log(found))))
    relative = float(np.interp(at, np.log(numbers), stderr / found))
    gain = entry["found"] / beside
    error = gain * float(np.hypot(relative, entry["found_stderr"] / entry["found"]))
    about = {name: entry[name] for name in (*CURVE, "patterns", "numbers")}
    return {"quantity": "gain", **about, "value": gain, "stderr": error}


def panels(table: Table, summary: Summary) -> list[Panel]:
    """Three panels for each number of hidden quadrants."""
    loads = {name: summary.of(quantity) for name, quantity in QUANTITIES.items()}
    looks = series([str(parts) for parts in dict.fromkeys(loads["share"]["parts"])])
    shown = []
    for hidden in sorted(loads["share"]["hidden"].unique()):
        rows = {name: part[part["hidden"] == hidden] for name, part in loads.items()}
        shown += _of_hidden(rows, f"{hidden} of 4", looks)
    return shown


def _name(parts: int) -> str:
    return "flat" if parts == FLAT else f"$K={parts}$ parts"


def _of_hidden(rows: dict[str, Table], hidden: str, looks: dict[str, Any]) -> list[Panel]:
    """Shares found, digits found by stored numbers, and errors of hidden pixels."""
    shared: dict[str, Any] = {"by": "parts", "label": _name, "looks": looks}
    hollow = {name: look | {"markerfacecolor": "white", "linestyle": ":"} for name, look in looks.items()}
    others = curves(rows["error_other"], "patterns", "value", by="parts", label=lambda parts: "", looks=hollow)
    grey = panel.entry("not stored", color="0.4", linestyle=":", marker="o", markerfacecolor="white")
    digits, share = Axis("stored digits $M$", "log"), Axis("share found", limits=(SHARE[0], 1.05))
    numbers, found = Axis("numbers stored", "log"), Axis("digits found, of all stored", "log")
    completion = [*curves(rows["error"], "patterns", "value", **shared), *others, grey]
    return [
        Panel(f"{hidden} quadrants hidden", digits, share, curves(rows["share"], "patterns", "value", **shared)),
        Panel(
            f"capacity by what is stored, {hidden} hidden",
            numbers,
            found,
            curves(rows["found"], "numbers", "value", **shared),
        ),
        Panel(f"completion, {hidden} hidden", digits, Axis("error of a hidden pixel", limits=(0, None)), completion),
    ]

"""Summary of a throughput table: exponents of time and memory, and shares of the machine's own rate."""

import numpy as np

from experiments.contract import Table
from experiments.statistics.lines import straight_line


def summarise(table: Table) -> dict:
    """Exponents of time and memory over the last decade of each axis, and the largest share of the machine's rate."""
    slopes, scalars = [], {}
    for (task, axis), rows in table.groupby(["task", "axis"], sort=False):
        rows = rows.sort_values(axis)
        upper = rows[rows[axis] >= rows[axis].max() / 10]
        entry = {"task": task, "axis": axis, "points": len(upper)}
        for name in ("run_s", "temporary_bytes"):
            x, y = np.log(upper[axis].astype(float)), np.log(upper[name].astype(float).clip(lower=1e-9))
            entry[f"{name}_slope"] = straight_line(x, y).slope if len(upper) > 1 else None
        slopes.append(entry)
        if entry["run_s_slope"] is not None:
            scalars[f"slope/{task}/{axis}"] = entry["run_s_slope"]
    for task, rows in table.groupby("task", sort=False):
        scalars[f"share/{task}"] = float(rows["share"].max())
    return {"slopes": slopes, "scalars": scalars}

"""Figure of a throughput table: time and memory of a read against patterns, neurons and queries."""

import numpy as np
from matplotlib.figure import Figure

from experiments.figures.style import THEORY, Table, panels, series
from experiments.throughput.config import AXES


def plot(table: Table, summary: dict) -> Figure:
    """Time above, memory below, against each axis."""
    figure, axes = panels(2, 3, width=11.0, height=2.9)
    looks = series([str(task) for task in table["task"].unique()])
    names = {"patterns": "patterns M", "neurons": "neurons N", "queries": "queries Q"}
    for column, axis in enumerate(AXES):
        part = table[table["axis"] == axis]
        for task, rows in part.groupby("task", sort=False):
            rows = rows.sort_values(axis)
            axes[0, column].loglog(rows[axis], rows["run_s"], **looks[str(task)], label=str(task))
            axes[1, column].loglog(rows[axis], rows["temporary_bytes"] / 1e6, **looks[str(task)])
        if len(part):
            top, value = part["run_s"].max(), part[axis].max()
            line = np.array([value / 30, value])
            axes[0, column].loglog(line, top * line / value * 2, **THEORY)
            axes[0, column].annotate("slope 1", (line[0] * 1.1, top * 2 / 12), fontsize=8, ha="right")
        axes[0, column].set_title(f"{'abc'[column]}  time against {names[axis]}")
        axes[1, column].set_xlabel(names[axis])
    axes[0, 0].set_ylabel("time of one read (s)")
    axes[1, 0].set_ylabel("temporary memory (MB)")
    axes[0, 0].legend(fontsize=8)
    return figure

"""Figure of a throughput table: time and memory of a read against patterns, neurons and queries."""

import numpy as np
from matplotlib.figure import Figure

from experiments.contract import Table
from experiments.figures.style import THEORY, panels, series
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
            line = np.array([part[axis].max() / 30, part[axis].max()])
            above = 3 * (part["run_s"] / part[axis])[part[axis] >= 0.9 * line[0]].max()
            axes[0, column].loglog(line, above * line, **THEORY, label="slope 1")
        axes[0, column].set_title(f"{'abc'[column]}  time against {names[axis]}")
        axes[1, column].set_xlabel(names[axis])
    axes[0, 0].set_ylabel("time of one read (s)")
    axes[1, 0].set_ylabel("temporary memory (MB)")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=len(looks) + 1)
    return figure

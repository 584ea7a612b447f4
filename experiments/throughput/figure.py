"""Figure of a throughput table: time and memory of a read against patterns, neurons and queries."""

from experiments.contract import Table
from experiments.figures.panel import Axis, Panel, curves, theory_line
from experiments.figures.style import series
from experiments.throughput.config import AXES

NAMES = {"patterns": "patterns $M$", "neurons": "neurons $N$", "queries": "queries $Q$"}


def panels(table: Table, summary: dict) -> list[Panel]:
    """Time in the first row, memory in the second, against each axis."""
    table = table.assign(megabytes=table["temporary_bytes"] / 1e6)
    looks = series([str(task) for task in table["task"].unique()])
    shown = []
    for title, column, label in (
        ("time", "run_s", "time of one read (s)"),
        ("memory", "megabytes", "temporary memory (MB)"),
    ):
        for axis in AXES:
            rows = table[table["axis"] == axis]
            found = curves(rows, axis, column, by="task", looks=looks)
            if column == "run_s" and len(rows):
                ends = rows[axis].max() / 30, rows[axis].max()
                above = 3 * (rows["run_s"] / rows[axis])[rows[axis] >= 0.9 * ends[0]].max()
                found.append(theory_line(ends, [above * end for end in ends], "slope 1"))
            x = Axis(NAMES[axis], "log")
            shown.append(Panel(f"{title} against {NAMES[axis]}", x, Axis(label, "log"), found))
    return shown

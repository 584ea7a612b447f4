"""Figure of a table of ways to compute attention: time, memory and error against length."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.contract import Table
from experiments.figures.style import panels, series


def plot(table: Table, summary: dict) -> Figure:
    """Time, memory and error against length, a line for each method."""
    figure, axes = panels(1, 3, width=12.0, height=4.2)
    looks = series(list(dict.fromkeys(table["method"])))
    direction = "backward" if "backward" in set(table["pass"]) else "forward"
    shown = {"forward": "one pass forwards", "backward": "forwards and backwards"}[direction]
    titles = (("seconds", "time (s)", f"a  time, {shown}"), ("megabytes", "memory (MB)", f"b  memory, {shown}"))
    for ax, (name, label, title) in zip(axes.flat, titles, strict=False):
        _lines(ax, table[table["pass"] == direction], name, looks)
        ax.set(xlabel="length $T$", ylabel=label)
        ax.set_title(title, loc="left")
    last = axes.flat[2]
    errors = table[(table["pass"] == "forward") & table["error"].notna() & (table["method"] != "dense")]
    _lines(last, errors, "error", looks)
    last.set(xlabel="length $T$", ylabel="relative error")
    last.set_title("c  error against dense attention", loc="left")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    return figure


def _lines(ax: Axes, table: Table, name: str, looks: dict) -> None:
    for method, rows in table.groupby("method", sort=False):
        rows = rows[rows[name] > 0].sort_values("length")
        ax.plot(rows["length"], rows[name], label=method, **looks[method])
    if len(table) and (table[name] > 0).any():
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")

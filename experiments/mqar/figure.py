"""Figure of multi-query associative recall: accuracy against what is kept of a sequence and against its pairs."""

from typing import Any

import pandas
from matplotlib.figure import Figure

from experiments.figures.style import Table, panels, series


def plot(table: Table, summary: dict) -> Figure:
    """Accuracy against bytes of state at the fewest pairs, and against pairs at the largest width; 95 % intervals."""
    found: Table = pandas.DataFrame(summary["results"])
    mixers = list(dict.fromkeys(found["mixer"]))
    looks: Any = series(mixers)
    figure, axes = panels(1, 2, width=9.0, height=3.8)
    trained = found[found["mixer"] != "by_hand"]
    widest = trained["width"].max() if len(trained) else 0
    length, fewest = found["length"].min(), found["pairs"].min()
    shown = (
        ("state_bytes", found[(found["pairs"] == fewest) & (found["length"] == length)]),
        ("pairs", found[(found["width"] == widest) | (found["mixer"] == "by_hand")]),
    )
    for number, (ax, (column, rows)) in enumerate(zip(axes[0], shown, strict=True)):
        for place, mixer in enumerate(mixers):
            part = rows[rows["mixer"] == mixer].groupby(column)[["accuracy", "half_interval"]].mean().reset_index()
            apart = 1.03 ** (place - len(mixers) / 2)
            ax.errorbar(
                part[column] * apart,
                part["accuracy"],
                part["half_interval"],
                **looks[mixer],
                label=mixer if not number else None,
            )
        ticks = sorted(rows[column].unique())
        ends = (ticks[0] / 1.5, ticks[-1] * 1.5)
        ax.set(xscale="log", xlim=ends, ylim=(-0.03, 1.05), ylabel="accuracy")
        if column == "pairs":
            ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
            ax.minorticks_off()
    axes[0, 0].set(xlabel="state kept of a sequence (bytes)")
    axes[0, 0].set_title(f"a  K = {fewest} pairs, L = {length} tokens")
    axes[0, 1].set(xlabel="pairs $K$")
    axes[0, 1].set_title(f"b  width {widest}")
    figure.legend(loc="outside lower center", ncols=4)
    return figure

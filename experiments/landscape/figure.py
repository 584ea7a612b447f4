"""Figure of a landscape: shares of kinds of ends against patterns, energies of the kinds, minima of continuous ones."""

from functools import partial

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.contract import Table
from experiments.figures.panels import gallery, legend, log_axis, point_style
from experiments.figures.style import series
from experiments.landscape.config import CONTINUOUS, KINDS


def plot(table: Table, summary: dict) -> Figure:
    """Panels of shares for every memory, size and temperature, of energies on spins and of emergent minima."""
    kinds: Table = pandas.DataFrame(summary["kinds"])
    minima: Table = pandas.DataFrame(summary["minima"])
    drawn = []
    for key, rows in kinds.groupby(["memory", "neurons", "temperature"], sort=False):
        memory, neurons, temperature = key
        drawn.append(partial(_shares, rows=rows, title=f"{memory}, $N={neurons}$, $T={temperature:g}$"))
    on_spins = kinds[~kinds["memory"].isin(CONTINUOUS)]
    if len(on_spins):
        first = on_spins[["memory", "neurons", "temperature"]].iloc[0]
        same = (on_spins[list(first.index)] == first).all(axis=1)
        drawn.append(partial(_energies, rows=on_spins[same], title=f"{first['memory']}: energies"))
    others = minima[minima["memory"].isin(CONTINUOUS)]
    drawn += [partial(_minima, rows=others)] if len(others) else []
    return gallery(drawn)


def _shares(ax: Axes, rows: Table, title: str) -> None:
    looks = series(list(KINDS))
    for kind, part in rows.groupby("kind", sort=False):
        look = looks[str(kind)]
        ax.errorbar(part["patterns"], part["share"], part["stderr"], label=str(kind), **point_style(look))
    log_axis(ax)
    ax.set(xlabel="patterns $M$", ylabel="share of starts", ylim=(-0.03, 1.03))
    ax.set_title(title, loc="left")
    legend(ax)


def _energies(ax: Axes, rows: Table, title: str) -> None:
    looks = series(list(KINDS))
    for kind, part in rows.groupby("kind", sort=False):
        known = part[part["energy"].notna()]
        ax.plot(known["patterns"], known["energy"].astype(float), label=str(kind), **looks[str(kind)])
    log_axis(ax)
    ax.set(xlabel="patterns $M$", ylabel="energy per neuron")
    ax.set_title(title, loc="left")
    legend(ax)


def _minima(ax: Axes, rows: Table) -> None:
    curves = ["memory", "neurons", "temperature"]
    keys = [tuple(key) for key in rows[curves].drop_duplicates().to_numpy().tolist()]
    looks = series([str(key) for key in keys])
    for key in keys:
        part = rows[(rows[curves] == list(key)).all(axis=1)]
        words = f"{key[0]}, N = {key[1]}, T = {key[2]:g}"
        ax.plot(part["patterns"], part["emergent"], label=words, **looks[str(key)])
    log_axis(ax)
    ax.set(xlabel="patterns $M$", ylabel="minima found that are no pattern")
    ax.set_title("emergent minima, certified", loc="left")
    legend(ax)

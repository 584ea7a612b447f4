"""Figure of sequences: whole sequences against their length, errors of a bit, and what correlations cost."""

from functools import partial
from typing import Any

import numpy as np
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.contract import Table
from experiments.figures.panels import ERROR as ERROR_BARS
from experiments.figures.panels import gallery, legend
from experiments.figures.style import THEORY, series
from experiments.sequences import theory
from experiments.sequences.config import EXPONENTIAL

ERROR: dict[str, Any] = ERROR_BARS | {"markersize": 4}


def plot(table: Table, summary: dict) -> Figure:
    """Whole sequences against P for every rule, then measured against exact errors of a bit, then the rest."""
    lengths: Table = pandas.DataFrame(summary["lengths"])
    plain = lengths[(lengths["learning"] == "plain") & (lengths["correlation"] == 0)]
    others = lengths[(lengths["learning"] != "plain") | (lengths["correlation"] != 0)]
    rules = list(dict.fromkeys(plain["degree"]))
    kinds = [
        partial(_plot_whole_sequences, rows=plain[plain["degree"] == rule], rule=rule, half=summary["half"])
        for rule in rules
    ]
    kinds += [partial(_bits, rows=plain)] if rules else []
    if not others.empty:
        measured = set(others["correlation"])
        kinds.append(partial(_plot_correlated, rows=lengths[[c in measured for c in lengths["correlation"]]]))
    return gallery(kinds)


def _name(rule: str) -> str:
    return r"exponential" if rule == EXPONENTIAL else f"$d={rule}$"


def _bars(rows: Table, name: str) -> np.ndarray:
    return np.clip([rows[name] - rows[f"{name}_low"], rows[f"{name}_high"] - rows[name]], 0, None)


def _plot_whole_sequences(ax: Axes, rows: Table, rule: str, half: list[dict]) -> None:
    """Share of whole sequences and of single transitions against the number of patterns."""
    looks = series([str(size) for size in sorted(rows["neurons"].unique())])
    for size, part in rows.groupby("neurons"):
        look = looks[str(size)] | {"linestyle": "none"}
        ax.errorbar(part["patterns"], part["whole"], _bars(part, "whole"), label=f"$N={size}$", **ERROR | look)
        hollow = look | {"markerfacecolor": "white"}
        ax.errorbar(part["patterns"], part["right"], _bars(part, "right"), **ERROR | hollow)
        grid = np.unique(np.geomspace(2, 3 * part["patterns"].max(), 40).round().astype(int))
        for whole in (True, False):
            line = [theory.chance_right(rule, int(size), int(p), int(p) if whole else 1) for p in grid]
            ax.plot(grid, line, **THEORY | {"color": looks[str(size)]["color"], "linestyle": "--" if whole else ":"})
        for entry in half:
            if (entry["degree"], entry["neurons"], entry["learning"]) == (rule, size, "plain") and entry["P_T"]:
                for place, marker in (("P_S", 6), ("P_T", 7)):
                    ax.plot([entry[place]], [0.03], color=looks[str(size)]["color"], marker=marker, linestyle="none")
    if rule != EXPONENTIAL:
        ax.plot([], [], color="0.4", marker=6, linestyle="none", label="published $P_S$")
        ax.plot([], [], color="0.4", marker=7, linestyle="none", label="published $P_T$")
    ax.plot([], [], color="0.3", linestyle="--", label="independent bits")
    ax.plot([], [], color="0.3", linestyle=":", label="one step (open)")
    ax.set(xscale="log", ylim=(-0.03, 1.03), xlabel="patterns $P$", ylabel="share right")
    ax.set_yticks(np.linspace(0, 1, 6))
    ax.set_title(_name(rule), loc="left")
    legend(ax)


def _bits(ax: Axes, rows: Table) -> None:
    """Measured over exact errors of a bit, at every length. Where none were seen, the ratio is 0 with its upper bar."""
    looks = series(list(dict.fromkeys(rows["degree"])))
    for rule, part in rows.groupby("degree", sort=False):
        exact = part["bit_error_theory"].to_numpy(float)
        look = looks[str(rule)] | {"linestyle": "none", "label": _name(str(rule))}
        ax.errorbar(exact, part["bit_error"] / exact, _bars(part, "bit_error") / exact, **ERROR | look)
    ax.axhline(1.0, **THEORY)
    ax.set(xscale="log", ylim=(-0.1, 3), xlabel=r"exact error of a spin $\varepsilon$", ylabel="measured over exact")
    ax.set_title("one step", loc="left")
    legend(ax)


def _plot_correlated(ax: Axes, rows: Table) -> None:
    """Transitions right against the mean overlap of patterns, with either way of learning, at each rule's largest N."""
    keys = list(dict.fromkeys(zip(rows["degree"], rows["learning"], strict=True)))
    looks = series([str(key) for key in keys])
    for key in keys:
        part = rows[(rows["degree"] == key[0]) & (rows["learning"] == key[1])]
        part = part[part["neurons"] == part["neurons"].max()]
        part = part[part["patterns"] == part["patterns"].max()].sort_values("correlation")
        size = f"$N={part['neurons'].max()}$, $P={part['patterns'].max()}$"
        words = f"{_name(key[0])}, {key[1].replace('_', '-')}, {size}"
        ax.errorbar(part["correlation"], part["right"], _bars(part, "right"), label=words, **ERROR | looks[str(key)])
    ax.set(xlabel="mean overlap of patterns $c$", ylabel="transitions right", ylim=(-0.03, 1.05))
    ax.set_title("correlated patterns", loc="left")
    legend(ax)

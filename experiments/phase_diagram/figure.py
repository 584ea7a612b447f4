"""Figure of phase diagrams: maps of regime and overlap with the lines of theory, overlap against T, rounding."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import NullFormatter, ScalarFormatter

from experiments.contract import Table
from experiments.figures.panels import Panel, fill, legend
from experiments.figures.style import THEORY, series
from experiments.phase_diagram import measurement, theory
from experiments.phase_diagram.config import logarithmic
from experiments.phase_diagram.summary import cells, maps_of
from experiments.shared import convergence
from hopfield.theory import classical

SHADES = dict(zip(measurement.REGIMES, ("#56B4E9", "#CC79A7", "#F5D0A0", "#F7F7F7"), strict=True))
HATCHES = dict(zip(measurement.REGIMES, ("", "xx", "//", ""), strict=True))
"""The mixed regime is hatched, so that it differs from retrieval in grey, too."""
WORDS = {
    "classical": dict(
        zip(measurement.REGIMES, ("retrieval", "other pattern", "spin glass", "paramagnet"), strict=True)
    ),
    "modern": dict(
        zip(measurement.REGIMES, ("retrieval", "other pattern", "metastable mixture", "global average"), strict=True)
    ),
}
AXES = {
    "classical": {"xlabel": r"load $\alpha = M/N$", "ylabel": "temperature $T$"},
    "modern": {"xlabel": r"load $\alpha = \ln M / N$", "ylabel": r"inverse temperature $\beta$", "yscale": "log"},
}


def plot(table: Table, summary: dict) -> Figure:
    """Maps of regime and overlap of both networks with their lines, overlap against T, rounding of the line."""
    rows: list[list[Panel]] = []
    for area in maps_of(table):
        shown, first = cells(area), area.iloc[0]
        memory = first["memory"]
        where = rf"{memory}, $N={first['neurons']}$"
        where += f", {first['burn_in'] + first['sweeps']} sweeps" if memory == "classical" else ""
        end = theory.end_of(area)
        where += f", {convergence.WORDS[end]}" if memory == "modern" and end != convergence.REST else ""
        lines = partial(theory.lines, memory, end, neurons=int(first["neurons"]))
        shared = {"found": shown, "memory": memory, "lines": lines, "where": where}
        rows.append([partial(kind, **shared) for kind in (_regimes, _overlaps)])
    extra: list[Panel] = [partial(_draw_curves, summary=summary)] if summary["overlap"] else []
    extra += [partial(_rounding, summary=summary)] if any(_measured(summary)) else []
    extra += [partial(_dense, summary=summary)] if "classical" in set(table["memory"]) else []
    for row, panel in zip(rows, extra, strict=False):
        row.append(panel)
    rows += [extra[len(rows) :]] if extra[len(rows) :] else []
    columns = max(map(len, rows))
    figure = Figure(figsize=(4.2 * columns + 0.2, 4.3 * len(rows)), layout="constrained")
    axes = figure.subplots(len(rows), columns, squeeze=False)
    for number, (line, row) in enumerate(zip(axes, rows, strict=True)):
        fill(line, row, sum(map(len, rows[:number])))
    return figure


def _rectangles(found: Table, memory: str) -> list[list[tuple[float, float]]]:
    """Corners of every cell on the axes of its map."""
    low, high = found["temperature_low"].to_numpy(float), found["temperature_high"].to_numpy(float)
    if memory == "modern":
        low, high = 1 / high, 1 / low
    sides = zip(found["load_low"], found["load_high"], low, high, strict=True)
    return [[(left, bottom), (right, bottom), (right, top), (left, top)] for left, right, bottom, top in sides]


def _frame(ax: Axes, found: Table, memory: str) -> None:
    corners = np.array(_rectangles(found, memory)).reshape(-1, 2)
    (left, bottom), (right, top) = corners.min(axis=0), corners.max(axis=0)
    ax.set(xlim=(left, right), ylim=(bottom, top), **AXES[memory])
    ax.locator_params(axis="x", nbins=5)
    ax.grid(False)
    if memory == "modern":
        ax.set_yticks([beta for beta in (0.1, 0.2, 0.5, 1, 2, 5, 10) if bottom <= beta <= top])
        ax.yaxis.set_major_formatter(ScalarFormatter())
        ax.yaxis.set_minor_formatter(NullFormatter())


def _regimes(ax: Axes, found: Table, memory: str, lines: Callable, where: str) -> None:
    """Every cell in the colour of its regime, cut as it was measured."""
    handles = []
    for regime, shade in SHADES.items():
        inside = found[found["regime"] == regime]
        if inside.empty:
            continue
        look = {"facecolor": shade, "hatch": HATCHES[regime], "edgecolor": "0.75", "linewidth": 0.35}
        look["label"] = WORDS[memory][regime]
        ax.add_collection(PolyCollection(_rectangles(inside, memory), **look))
        handles.append(Patch(**look))
    _frame(ax, found, memory)
    _lines(ax, memory, lines, colour="k")
    drawn = [line for line in ax.lines if not str(line.get_label()).startswith("_")]
    handles += [Patch(alpha=0, label=" ")] * (len(drawn) - len(handles))  # the second column is that of the lines
    legend(ax, handles=[*handles, *drawn], ncols=2)
    ax.set_title(f"{where}: regimes", loc="left")


def _overlaps(ax: Axes, found: Table, memory: str, lines: Callable, where: str) -> None:
    """Every cell in the shade of its mean overlap."""
    shades = PolyCollection(_rectangles(found, memory), cmap="cividis", edgecolor="face", linewidth=0.2)
    shades.set_array(found["overlap"].to_numpy(float))
    shades.set_clim(0, 1)
    shades.set_rasterized(True)  # an image: no cell of it is told from the next by more than its shade
    ax.add_collection(shades)
    _frame(ax, found, memory)
    _lines(ax, memory, lines, colour="w")
    figure = ax.get_figure()
    if figure is not None:
        figure.colorbar(shades, ax=ax, label="overlap $m$ with the start")
    ax.set_title(f"{where}: overlap", loc="left")


def _lines(ax: Axes, memory: str, lines: Callable, colour: str) -> None:
    """The lines of theory on a map whose limits are set."""
    loads = np.linspace(*ax.get_xlim(), 241)
    low, high = ax.get_ylim()
    heights = np.geomspace(low, high, 121) if logarithmic(memory) else np.linspace(low, high, 241)
    styles = ("-", "--", "-.", ":", (0, (1, 3)))
    drawn = lines(loads, heights)
    for (x, y, label), style in zip(drawn, styles, strict=False):
        ax.plot(x, y, color=colour, linestyle=style, linewidth=1.5, label=label)
    if memory == "classical" and drawn:
        load = theory.zero_temperature()["one_step"]
        look = {"color": colour, "marker": "^", "linestyle": "none", "markersize": 7, "clip_on": False, "zorder": 5}
        ax.plot([load], [low], label=rf"$\alpha_c = {load:.6f}$ at $T = 0$ (1RSB)", **look)


def _dense(ax: Axes, summary: dict) -> None:
    """Lines of dense memories over load and temperature, from theory alone."""
    names = {entry["degree"]: f"$n={entry['degree']}$" for entry in summary["dense"]}
    looks = series(list(names.values()))
    words = {
        "spinodal": "RS theory $T_M$: retrieval ends",
        "thermodynamic": "$T_c$: stable below",
        "glass": "spin glass (AT)",
    }
    for entry in summary["dense"]:
        label, most = names[entry["degree"]], np.nanmax(np.array(entry["spinodal"], float))
        for (line, _), style in zip(words.items(), ("-", "--", ":"), strict=True):
            loads = np.array(entry[line], float) / most
            inside = loads < 1.15
            ax.plot(loads[inside], np.array(entry["temperature"])[inside], color=looks[label]["color"], linestyle=style)
        ax.plot([], [], color=looks[label]["color"], label=rf"{label}, $\alpha_{{\max}}={most:.4f}$")
    for text, style in zip(words.values(), ("-", "--", ":"), strict=True):
        ax.plot([], [], color="k", linestyle=style, label=text)
    ax.set(xlabel=r"load $\alpha/\alpha_{\max}$, $\alpha = M/N^{n-1}$", ylabel="temperature $T$", ylim=(0, None))
    ax.set_title(r"dense memories: RS theory, $N\to\infty$", loc="left")
    legend(ax)


def _draw_curves(ax: Axes, summary: dict) -> None:
    """Overlap against temperature at each load and size, with the replica-symmetric theory, at the commonest sweeps."""
    frame: Table = pandas.DataFrame(summary["overlap"]).astype({"overlap": float, "overlap_stderr": float})
    burn_in, sweeps = frame.groupby(["burn_in", "sweeps"])["neurons"].nunique().idxmax()
    frame = frame[(frame["burn_in"] == burn_in) & (frame["sweeps"] == sweeps)]
    loads = _stored(frame)
    looks = series([str(asked) for asked in loads])
    sizes = sorted(frame["neurons"].unique())
    for number, size in enumerate(sizes, 1):
        for asked, rows in frame[frame["neurons"] == size].groupby("asked", sort=False):
            look = looks[str(asked)] | {"linestyle": "none", "elinewidth": 0.9}
            paler = 1 - (number == len(sizes) or 0.7 * (number - 1) / len(sizes))
            fill = tuple(shade + paler * (1 - shade) for shade in to_rgb(look["color"]))
            label = rf"$\alpha={rows['load'].iloc[0]:.3g}$, $N={size}$"
            scale = 2.5 + 2.5 * number / len(sizes)
            look |= {"markerfacecolor": fill, "markersize": scale, "label": label}
            ax.errorbar(rows["temperature"], rows["overlap"], rows["overlap_stderr"], **look)
    known = frame["overlap_theory"].notna().any()
    for load in loads.values() if known else []:
        end = float(classical.spinodal_temperature(load))
        if np.isfinite(end):
            temperatures = end - (end - 0.02) * np.linspace(0, 1, 200) ** 2
            ax.plot(temperatures, classical.retrieval_overlap(load, temperatures), **THEORY)
            edge = float(classical.retrieval_overlap(load, end - 1e-9))
            ax.vlines(end, 0, edge, color=THEORY["color"], linestyle=THEORY["linestyle"], linewidth=0.7)
    if known:
        ax.plot([], [], **THEORY, label=r"RS theory, $N\to\infty$")
    ax.set(xlabel="temperature $T$", ylabel="overlap $m$", ylim=(-0.03, 1.03))
    ax.set_title(f"classical: overlap, sweeps {burn_in + 1} to {burn_in + sweeps}", loc="left")
    legend(ax)


def _stored(frame: Table) -> dict[float, float]:
    """Load that the largest network stores, by the one asked for: numbers of patterns are whole and odd."""
    return frame.sort_values("neurons", kind="stable").groupby("asked", sort=False)["load"].last().to_dict()


def _measured(summary: dict) -> list[dict]:
    return [line for line in summary["retrieval_line"] if line["stderr"] and line["stderr"] > 0 and line["theory"]]


def _rounding(ax: Axes, summary: dict) -> None:
    """Temperatures over T_M where half of the queries lost their pattern, by sweeps, with the width of the loss."""
    frame: Table = pandas.DataFrame(_measured(summary))
    loads = _stored(frame)
    names = {
        key: rf"$\alpha={loads[key[0]]:.3g}$, {key[1]} sweeps"
        for key in frame[["asked", "observed_sweeps"]].itertuples(index=False, name=None)
    }
    looks = series([str(key) for key in names])
    for number, (key, rows) in enumerate(frame.groupby(["asked", "observed_sweeps"], sort=False)):
        look = looks[str(key)]
        x, y = rows["neurons"] * 1.06**number, rows["temperature"] / rows["theory"]
        width = np.abs(rows["width"]) / rows["theory"]
        ax.vlines(x, y - width, y + width, color=look["color"], alpha=0.3, linewidth=6)
        error = rows["stderr"] / rows["theory"]
        ax.errorbar(x, y, error, label=names[key], **{**look, "linestyle": "none"})
    ax.axhline(1, **THEORY, label=r"RS theory $T_M$, $N\to\infty$")
    ax.set(xscale="log", xlabel="neurons $N$", ylabel=r"$T_{50}/T_M$: half of the retrievals lost")
    sizes = sorted(frame["neurons"].unique())
    ax.set_xticks(sizes, [str(size) for size in sizes])
    ax.set_xticks([], minor=True)
    ax.margins(x=0.25, y=0.3)
    ax.set_title("classical: rounding of $T_M$ (bars: width)", loc="left")
    legend(ax)

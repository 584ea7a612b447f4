"""Figure of phase diagrams: maps of regime and overlap with the lines of theory, overlap against T, rounding."""

from functools import partial
from itertools import cycle

import numpy as np
import pandas
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.ticker import NullFormatter, ScalarFormatter

from experiments.contract import Row, Summary, Table, records
from experiments.figures.panel import Axis, Panel, Series, entry, free, level, theory_lines
from experiments.figures.style import THEORY, series
from experiments.phase_diagram import diagrams, theory
from experiments.phase_diagram.config import CURVED
from experiments.phase_diagram.diagrams import Diagram
from experiments.phase_diagram.summary import LINE, MAP, OVERLAP, cells, commonest, maps_of, stored_loads
from experiments.shared import convergence

LOOKS = (("#56B4E9", ""), ("#CC79A7", "xx"), ("#F5D0A0", "//"), ("#F7F7F7", ""))
"""Shade and hatch of every regime: the mixed one is hatched, so that it differs from retrieval in grey, too."""
DENSE = {
    "spinodal": ("-", "RS theory $T_M$: retrieval ends"),
    "thermodynamic": ("--", "$T_c$: stable below"),
    "glass": (":", "spin glass (AT)"),
}
STYLES = ("-", "--", "-.", ":", (0, (8, 2, 1, 2)))
MARK = {"marker": "^", "linestyle": "none", "markersize": 7, "clip_on": False, "zorder": 5}


def panels(table: Table, summary: Summary) -> list[Panel]:
    """Maps of regime and overlap of both networks with their lines, overlap against T, rounding of the line."""
    shown: list[Panel] = []
    for number, area in enumerate(maps_of(table)):
        first, end = area.iloc[0], theory.end_of(area)
        diagram, sweeps = diagrams.of_memory(first["memory"]), first["burn_in"] + first["sweeps"]
        where = rf"{first['memory']}, $N={first['neurons']}$"
        where += f", {sweeps} sweeps" if sweeps else "" if end == convergence.REST else f", {convergence.WORDS[end]}"
        lines = records(summary.line(MAP, map=number))
        shared = {"found": cells(area), "diagram": diagram, "lines": lines}
        texts = [*_words(shared["found"], diagram), *(line.get("label", "") for line in lines)]
        named = [entry(text) for text in texts if text]
        shown.append(free(partial(_regimes, **shared), f"{where}: regimes", series=named, height=3.4))
        shown.append(free(partial(_overlaps, **shared), f"{where}: overlap"))
    shown += [_curves(summary)] if len(summary.of(OVERLAP)) else []
    shown += [_rounding(summary)] if any(_lines_with_theory(summary)) else []
    return shown + ([_dense(summary)] if CURVED in set(table["memory"]) else [])


def _rectangles(found: Table) -> list[list[tuple[float, float]]]:
    """Corners of every cell on the axes of its map."""
    sides = found[["load_low", "load_high", "bottom", "top"]].itertuples(index=False, name=None)
    return [[(left, bottom), (right, bottom), (right, top), (left, top)] for left, right, bottom, top in sides]


def _regimes(ax: Axes, found: Table, diagram: Diagram, lines: list[Row]) -> None:
    """Every cell in the colour of its regime, cut as it was measured."""
    for regime, word, (shade, hatch) in zip(diagrams.REGIMES, diagram.words, LOOKS, strict=True):
        inside = found[found["regime"] == regime]
        if not inside.empty:
            look = {"facecolor": shade, "hatch": hatch, "edgecolor": "0.75", "linewidth": 0.35, "label": word}
            ax.add_collection(PolyCollection(_rectangles(inside), **look))
    _frame(ax, found, diagram, lines, colour="k")


def _words(found: Table, diagram: Diagram) -> list[str]:
    """Words for the regimes that were found."""
    named = zip(diagrams.REGIMES, diagram.words, strict=True)
    return [word for regime, word in named if (found["regime"] == regime).any()]


def _overlaps(ax: Axes, found: Table, diagram: Diagram, lines: list[Row]) -> None:
    """Every cell in the shade of its mean overlap."""
    shades = PolyCollection(_rectangles(found), cmap="cividis", edgecolor="face", linewidth=0.2)
    shades.set_array(found["overlap"].to_numpy(float))
    shades.set_clim(0, 1)
    shades.set_rasterized(True)  # an image: no cell of it is told from the next by more than its shade
    ax.add_collection(shades)
    _frame(ax, found, diagram, lines, colour="w")
    figure = ax.get_figure()
    if figure is not None:
        figure.colorbar(shades, ax=ax, label="overlap $m$ with the start")


def _frame(ax: Axes, found: Table, diagram: Diagram, lines: list[Row], colour: str) -> None:
    """Axes that end where the map does, and the lines of theory on it."""
    low, high = found["bottom"].min(), found["top"].max()
    ax.set(xlabel=diagram.xlabel, ylabel=diagram.ylabel, yscale=diagram.yscale)
    ax.set(xlim=(found["load_low"].min(), found["load_high"].max()), ylim=(low, high))
    ax.locator_params(axis="x", nbins=5)
    ax.grid(False)
    if diagram.yscale == "log":
        ax.set_yticks([value for value in (0.1, 0.2, 0.5, 1, 2, 5, 10) if low <= value <= high])
        ax.yaxis.set_major_formatter(ScalarFormatter())
        ax.yaxis.set_minor_formatter(NullFormatter())
    for line, style in zip(lines, cycle(STYLES), strict=False):
        look = {"linestyle": style, "linewidth": 1.5} if len(line["x"]) > 1 else MARK
        ax.plot(np.array(line["x"], float), np.array(line["y"], float), color=colour, label=line["label"], **look)


def _dense(summary: Summary) -> Panel:
    """Lines of dense memories over load and temperature, from theory alone."""
    names, found = {entry["degree"]: f"$n={entry['degree']}$" for entry in summary.more["dense"]}, []
    looks = series(list(names.values()))
    for one in summary.more["dense"]:
        label, most = names[one["degree"]], np.nanmax(np.array(one["spinodal"], float))
        color = looks[label]["color"]
        for line, (style, _) in DENSE.items():
            loads = np.array(one[line], float) / most
            inside = loads < 1.15
            found.append(Series(loads[inside], np.array(one["temperature"])[inside], color=color, linestyle=style))
        found.append(entry(rf"{label}, $\alpha_{{\max}}={most:.4f}$", color=color, linestyle="-"))
    found += [entry(text, color="black", linestyle=style) for style, text in DENSE.values()]
    x = Axis(r"load $\alpha/\alpha_{\max}$, $\alpha = M/N^{n-1}$")
    return Panel(r"dense memories: RS theory, $N\to\infty$", x, Axis("temperature $T$", limits=(0, None)), found)


def _curves(summary: Summary) -> Panel:
    """Overlap against temperature at each load and size, with the replica-symmetric theory, at the commonest sweeps."""
    asked = pandas.DataFrame(summary.more["retrieval_line"])[["load", *LINE]]
    frame = commonest(summary.of(OVERLAP).merge(asked, how="left"))
    burn_in, sweeps = frame[["burn_in", "sweeps"]].iloc[0]
    loads, sizes, found = stored_loads(frame), sorted(frame["neurons"].unique()), []
    looks = series([str(asked) for asked in loads])
    for number, size in enumerate(sizes, 1):
        for asked, rows in frame[frame["neurons"] == size].groupby("asked", sort=False):
            color = looks[str(asked)]["color"]
            paler = 1 - (number == len(sizes) or 0.7 * (number - 1) / len(sizes))
            fill = tuple(shade + paler * (1 - shade) for shade in to_rgb(color))
            look = {"color": color, "marker": looks[str(asked)]["marker"], "markerfacecolor": fill}
            look |= {"markersize": 2.5 + 2.5 * number / len(sizes)}
            label = rf"$\alpha={rows['load'].iloc[0]:.3g}$, $N={size}$"
            found.append(Series(rows["temperature"], rows["value"], rows["stderr"], label=label, **look))
    known = frame["limit"].notna().any()
    found += theory_lines(summary.line(OVERLAP), lambda line: {"linewidth": 0.7} if "edge" in line else {})
    found += [entry(r"RS theory, $N\to\infty$", **THEORY)] if known else []
    y = Axis("overlap $m$", limits=(-0.03, 1.03))
    return Panel(f"classical: overlap, sweeps {burn_in + 1} to {burn_in + sweeps}", Axis("temperature $T$"), y, found)


def _lines_with_theory(summary: Summary) -> list[dict]:
    return [line for line in summary.more["retrieval_line"] if line["stderr"] and line["stderr"] > 0 and line["theory"]]


def _rounding(summary: Summary) -> Panel:
    """Temperatures over T_M where half of the queries lost their pattern, by sweeps, with the width of the loss."""
    frame: Table = pandas.DataFrame(_lines_with_theory(summary))
    loads, sizes, found = stored_loads(frame), sorted(frame["neurons"].unique()), []
    groups = list(frame.groupby(["asked", "observed_sweeps"], sort=False))
    looks = series([str(key) for key, _ in groups])
    for number, (key, rows) in enumerate(groups):
        look = looks[str(key)]
        x, y = rows["neurons"] * 1.06**number, rows["temperature"] / rows["theory"]
        label = rf"$\alpha={loads[key[0]]:.3g}$, {key[1]} sweeps"
        wide = {"color": look["color"], "alpha": 0.3, "linewidth": 6.0, "marker": ""}
        found.append(Series(x, y, np.abs(rows["width"]) / rows["theory"], **wide))
        found.append(Series(x, y, rows["stderr"] / rows["theory"], label=label, **look | {"linestyle": ""}))
    found.append(level(1.0, r"RS theory $T_M$, $N\to\infty$"))
    ends = sizes[0] / 1.3, sizes[-1] * 1.3 * 1.06 ** len(groups)
    x = Axis("neurons $N$", "log", ends, [(size, str(size)) for size in sizes])
    y = Axis(r"$T_{50}/T_M$: half of the retrievals lost")
    return Panel("classical: rounding of $T_M$ (wide bars: width)", x, y, found)

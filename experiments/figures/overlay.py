"""Overlay: one figure of several, panel by panel, with one colour for each group of runs."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.figures import extraction, maps
from experiments.figures.extraction import Panel, Series
from experiments.figures.panels import compact
from experiments.figures.style import THEORY
from experiments.figures.style import panels as layout
from experiments.figures.style import series as looks

Member = tuple[str, Panel]
Names = Mapping[tuple[str, str], str]
WIDTH, COLUMNS, LETTERS = 4.2, 3, 44
"""Inches of a panel, panels in a row, letters in a line of a title."""


def plot(figures: Mapping[str, Figure]) -> Figure:
    """One figure of several, by their labels. Maps are placed side by side, each under its label.

    What is grey in all of them alike, theory that they share, is drawn once; theory of each in the colour of its label.
    """
    shown = {label: extraction.panels(figure) for label, figure in figures.items()}
    names, colours = _names(shown), {label: look["color"] for label, look in looks(list(figures)).items()}
    rows = _rows(_panel_groups(shown))
    columns = max(map(len, rows), default=1)
    figure, axes = layout(max(1, len(rows)), columns, width=WIDTH * columns, height=3.4)
    entries: dict[str, Any] = {}
    for line, row in zip(axes, rows or [[]], strict=True):
        for ax, members in zip(line, row, strict=False):
            _draw(ax, members, colours, names)
            if not members[0][1].is_map:
                handles, texts = ax.get_legend_handles_labels()
                entries |= {text: entries.get(text, handle) for handle, text in zip(handles, texts, strict=True)}
        for ax in line[len(row) :]:
            ax.set_axis_off()
    if entries:
        look = compact(list(entries), columns)
        figure.legend(entries.values(), entries.keys(), loc="outside lower center", **look)
    return figure


def has_unshared_panels(figures: Mapping[str, Figure]) -> bool:
    """Whether some figure shares no panel with the others. Maps, never overlaid, count in figures of maps alone."""
    shown = {label: extraction.panels(figure) for label, figure in figures.items()}
    curves = {label: [panel for panel in members if not panel.is_map] or members for label, members in shown.items()}
    return set(figures) != {label for members in _panel_groups(curves) if len(members) > 1 for label, _ in members}


def _panel_groups(panels: Mapping[str, Sequence[Panel]]) -> list[list[Member]]:
    """Groups of panels with equal titles and axis labels, maps by titles alone, in the order of their first panels."""
    groups: dict[tuple, list[Member]] = {}
    for label, members in panels.items():
        seen: dict[tuple, int] = {}
        for panel in members:
            axes = ("map",) if panel.is_map else (panel.x.label, panel.y.label)
            key = (_without_letter(panel.title), *axes)
            seen[key] = seen.get(key, 0) + 1
            groups.setdefault((*key, seen[key]), []).append((label, panel))
    return list(groups.values())


def _rows(grouped: Sequence[list[Member]]) -> list[list[list[Member]]]:
    """Rows of axes with the panels on each. Each map has its own axes, and a group of maps its own row."""
    rows: list[list[list[Member]]] = []
    filling = False
    for members in grouped:
        parts = [[member] for member in members] if members[0][1].is_map else [members]
        fits = filling and not members[0][1].is_map and len(rows[-1]) < COLUMNS
        if fits:
            rows[-1] += parts
        else:
            rows += [parts[start : start + COLUMNS] for start in range(0, len(parts), COLUMNS)]
        filling = not members[0][1].is_map
    return rows


def _without_letter(title: str) -> str:
    letter, gap, rest = title.partition("  ")
    return rest if gap and len(letter) == 1 else title


def _names(panels: Mapping[str, Sequence[Panel]]) -> dict[tuple[str, str], str]:
    """The entry of a legend for every label of a figure and of a series in it, no two alike."""
    pairs = {
        (label, part.label): None for label, members in panels.items() for panel in members for part in panel.series
    }
    pairs |= {(label, ""): None for label in panels}
    entries = {pair: ", ".join(filter(None, pair)) for pair in pairs}
    texts = list(entries.values())
    return {pair: text if texts.count(text) == 1 else f"{pair[0]}: {pair[1]}" for pair, text in entries.items()}


def _draw(ax: Axes, members: Sequence[Member], colours: Mapping[str, str], names: Names) -> None:
    first = members[0][1]
    title = _without_letter(first.title)
    if first.is_map:
        maps.draw(ax, first)
        title = ": ".join([members[0][0], title])
    else:
        _draw_curves(ax, members, colours, names)
    ax.set_title(title if len(title) <= LETTERS else textwrap.fill(title, LETTERS), loc="left")
    ax.set(xlabel=first.x.label, ylabel=first.y.label, xscale=first.x.scale, yscale=first.y.scale)
    for axis, place in ((first.x, ax.set_xticks), (first.y, ax.set_yticks)):
        if axis.ticks:
            place([at for at, _ in axis.ticks], [text for _, text in axis.ticks])
            place([], minor=True)
    for axis, put in (("x", ax.set_xlim), ("y", ax.set_ylim)):
        ends = [getattr(panel, axis).limits for _, panel in members]
        turned = ends[0][0] > ends[0][1]
        low, high = min(map(min, ends)), max(map(max, ends))
        put((high, low) if turned else (low, high))


def _draw_curves(ax: Axes, members: Sequence[Member], colours: Mapping[str, str], names: Names) -> None:
    """Draw the series of every figure in its colour. Grey series that all figures share are drawn once, in grey."""
    drawn: set[tuple] = set()
    for label, panel in members:
        coloured = [part for part in panel.series if not (_is_grey(part) and _is_shared(part, panel, members))]
        labelled = any(part.label for part in coloured)
        for number, part in enumerate(coloured):
            name = names[label, part.label] if part.label or (number == 0 and not labelled) else None
            _series(
                ax, part, panel, {"color": colours[label], "label": name} | ({"zorder": 1.5} if _is_grey(part) else {})
            )
        for part in panel.series:
            if part not in coloured and (sign := _sign(part, panel)) not in drawn:
                drawn.add(sign)
                _series(ax, part, panel, THEORY | {"label": part.label or None})


def _is_shared(series: Series, panel: Panel, members: Sequence[Member]) -> bool:
    """Whether every figure on a panel has a series with the same numbers."""
    sign = _sign(series, panel)
    return all(any(_sign(part, other) == sign for part in other.series) for _, other in members)


def _sign(series: Series, panel: Panel) -> tuple:
    """Signature of a series, equal for the same line in two panels. Ends of lines across the panel are ignored."""
    across = _across(series, panel)
    values = [
        None if side == across else np.round(part, 12).tobytes()
        for side, part in zip("xy", (series.x, series.y), strict=True)
    ]
    return (series.kind, series.label, *values)


def _across(series: Series, panel: Panel) -> str:
    """The axis, x or y, along which a straight line crosses its panel from side to side. Empty for any other series."""
    if series.kind == "points" and not series.marker and len(series.x) == 2:
        if np.array_equal(series.x, panel.x.limits) and series.y[0] == series.y[1]:
            return "x"
        if np.array_equal(series.y, panel.y.limits) and series.x[0] == series.x[1]:
            return "y"
    return ""


def _series(ax: Axes, series: Series, panel: Panel, look: dict[str, Any]) -> None:
    if series.kind == "area":
        ax.fill(series.x, series.y, color=look["color"], alpha=0.15, linewidth=0, label=look["label"])
        return
    look = {"marker": series.marker or None} | look | {"linestyle": maps.dashes(series.line)}
    across = _across(series, panel)
    errors = {"xerr": series.x_error, "yerr": series.y_error}
    bars = {name: np.clip(np.nan_to_num(error), 0, None) for name, error in errors.items() if error is not None}
    if across == "x":
        ax.axhline(float(series.y[0]), **look)
    elif across == "y":
        ax.axvline(float(series.x[0]), **look)
    elif bars:
        ax.errorbar(series.x, series.y, **bars, **look)
    else:
        ax.plot(series.x, series.y, **look)


def _is_grey(series: Series) -> bool:
    return bool(np.ptp(series.colour[:3]) < 0.02) and not series.marker

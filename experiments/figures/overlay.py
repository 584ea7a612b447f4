"""Overlay: one figure of several, panel by panel, each group of runs in a colour of its own."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.figures import extraction
from experiments.figures.extraction import Panel, Series
from experiments.figures.panels import compact
from experiments.figures.style import THEORY
from experiments.figures.style import panels as layout
from experiments.figures.style import series as looks


def plot(figures: Mapping[str, Figure]) -> Figure:
    """One figure of several, by the labels of what they show; maps stand beside each other under their labels."""
    grouped = _grouped({label: extraction.panels(figure) for label, figure in figures.items()})
    columns = max(1, min(3, len(grouped)))
    figure, axes = layout(-(-len(grouped) // columns), columns, width=4.2 * columns, height=3.4)
    colours = {label: look["color"] for label, look in looks(list(figures)).items()}
    for ax, members in zip(axes.ravel(), grouped, strict=False):
        _draw(ax, members, colours)
    for ax in axes.ravel()[len(grouped) :]:
        ax.set_axis_off()
    entries = {
        label: handle for ax in axes.ravel() for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    if entries:
        look = compact(list(entries), columns)
        figure.legend(entries.values(), entries.keys(), loc="outside lower center", **look)
    return figure


def apart(figures: Mapping[str, Figure]) -> bool:
    """Whether a figure has no panel that another has."""
    grouped = _grouped({label: extraction.panels(figure) for label, figure in figures.items()})
    return set(figures) != {label for members in grouped if len(members) > 1 for label, _ in members}


def _grouped(panels: Mapping[str, Sequence[Panel]]) -> list[list[tuple[str, Panel]]]:
    """Panels that belong on one: those of the same axes, in the order of the first figure."""
    found: dict[tuple, list[tuple[str, Panel]]] = {}
    for label, members in panels.items():
        seen: dict[tuple, int] = {}
        for panel in members:
            key = (_unlettered(panel.title), panel.x.label, panel.y.label)
            seen[key] = seen.get(key, 0) + 1
            alone = label if any(series.kind == "image" for series in panel.series) else ""
            found.setdefault((*key, seen[key], alone), []).append((label, panel))
    return list(found.values())


def _unlettered(title: str) -> str:
    letter, gap, rest = title.partition("  ")
    return rest if gap and len(letter) == 1 else title


def _draw(ax: Axes, members: Sequence[tuple[str, Panel]], colours: Mapping[str, str]) -> None:
    first = members[0][1]
    for label, panel in members:
        for number, series in enumerate(panel.series):
            if series.kind == "image":
                _image(ax, series, panel.colour_label)
            elif not _grey(series):
                _series(ax, series, colours[label], f"{label}, {series.label}" if series.label else None)
            elif label == members[0][0] or number >= len(first.series):
                ax.plot(
                    series.x, series.y, **THEORY | {"label": series.label or None, "linestyle": _dashes(series.line)}
                )
    image = any(series.kind == "image" for series in first.series)
    title = _unlettered(first.title)
    ax.set_title(f"{members[0][0]}: {title}" if image else title, loc="left")
    ax.set(xlabel=first.x.label, ylabel=first.y.label, xscale=first.x.scale, yscale=first.y.scale)
    for axis, place in ((first.x, ax.set_xticks), (first.y, ax.set_yticks)):
        if axis.ticks:
            place([at for at, _ in axis.ticks], [text for _, text in axis.ticks])
    for axis, put in (("x", ax.set_xlim), ("y", ax.set_ylim)):
        ends = [getattr(panel, axis).limits for _, panel in members]
        turned = ends[0][0] > ends[0][1]
        low, high = min(map(min, ends)), max(map(max, ends))
        put((high, low) if turned else (low, high))


def _series(ax: Axes, series: Series, colour: str, label: str | None) -> None:
    if series.kind == "area":
        ax.fill(series.x, series.y, color=colour, alpha=0.15, linewidth=0, label=label)
        return
    look = {"color": colour, "marker": series.marker or None, "linestyle": _dashes(series.line), "label": label}
    errors = {"xerr": series.x_error, "yerr": series.y_error}
    bars = {name: np.clip(np.nan_to_num(error), 0, None) for name, error in errors.items() if error is not None}
    if bars:
        ax.errorbar(series.x, series.y, **bars, **look)
    else:
        ax.plot(series.x, series.y, **look)


def _image(ax: Axes, series: Series, label: str) -> None:
    if series.values is not None and series.values.ndim == 2:
        low, high = series.limits
        image = ax.pcolormesh(series.x, series.y, series.values, cmap=series.colours, vmin=low, vmax=high)
        ax.figure.colorbar(image, ax=ax, label=label)


def _dashes(line: object) -> object:
    if isinstance(line, tuple):
        return (0, line)
    return line or "none"


def _grey(series: Series) -> bool:
    return bool(np.ptp(series.colour[:3]) < 0.02) and not series.marker

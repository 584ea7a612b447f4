"""Maps drawn again from their data: images and coloured cells, with lines and texts on them."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import LogNorm, Normalize

from experiments.figures.extraction import Panel, Series
from experiments.figures.panels import legend

LIGHT = 0.9
"""Brightness above which a line cannot be distinguished from the page."""


def draw(ax: Axes, panel: Panel) -> None:
    """Draw a map with its colour bar, and with a legend below it."""
    _cells(ax, [series for series in panel.series if series.cell], panel.colour_label)
    for series in panel.series:
        if series.kind == "image":
            _image(ax, series, panel)
        elif not series.cell:
            _line(ax, series)
    for x, y, text in panel.texts:
        ax.text(x, y, text, ha="center", va="center", fontsize=7, color=_legible(panel, x, y))
    ax.grid(False)
    shown = [(line, text) for line, text in zip(*ax.get_legend_handles_labels(), strict=True) if not _white(line)]
    if shown:
        legend(ax, handles=[line for line, _ in shown], labels=[text for _, text in shown])


def dashes(line: object) -> Any:
    """Style of a line as Matplotlib takes it."""
    if isinstance(line, tuple):
        return (0, line)
    return line or "none"


def _cells(ax: Axes, cells: list[Series], label: str) -> None:
    for text in dict.fromkeys(cell.label for cell in cells):
        alike = [cell for cell in cells if cell.label == text]
        corners, faces = [np.column_stack([cell.x, cell.y]) for cell in alike], [cell.colour for cell in alike]
        edge: Any = {"edgecolors": "0.75", "linewidths": 0.35} if text else {"edgecolors": faces, "linewidths": 0.2}
        part = PolyCollection(corners, facecolors=faces, hatch=alike[0].hatch or None, label=text or None, **edge)
        part.set_rasterized(not text)  # an image, as where cells have shades
        ax.add_collection(part)
    shaded = next((cell for cell in cells if cell.colours is not None), None)
    if shaded is not None:
        ax.figure.colorbar(ScalarMappable(Normalize(*shaded.limits), shaded.colours), ax=ax, label=label)


def _image(ax: Axes, series: Series, panel: Panel) -> None:
    assert series.values is not None
    if series.values.ndim == 3:
        values = series.values / (255 if np.nanmax(series.values) > 1 else 1)
        ax.pcolormesh(series.x, series.y, np.clip(np.nan_to_num(values), 0, 1))
        return
    norm = (LogNorm if series.logarithmic else Normalize)(*series.limits)
    image = ax.pcolormesh(series.x, series.y, np.ma.masked_invalid(series.values), cmap=series.colours, norm=norm)
    if panel.colour_bar:
        ax.figure.colorbar(image, ax=ax, label=panel.colour_label)


def _line(ax: Axes, series: Series) -> None:
    look: dict[str, Any] = {"color": series.colour, "label": series.label or None}
    if series.kind == "area":
        ax.fill(series.x, series.y, linewidth=0, **look)
    else:
        look |= {"marker": series.marker or None, "linestyle": dashes(series.line), "clip_on": not series.marker}
        ax.plot(series.x, series.y, **look)


def _legible(panel: Panel, x: float, y: float) -> str:
    """Black or white, whichever is legible on the colour of a map at a place."""
    for series in panel.series:
        if series.kind == "image" and series.values is not None and series.values.ndim == 2:
            column, row = (_place(ends, at) for ends, at in ((series.x, x), (series.y, y)))
            low, high = series.limits
            shade = (float(series.values[row, column]) - low) / ((high - low) or 1.0)
            return "black" if np.mean(series.colours(shade)[:3]) > 0.45 or np.isnan(shade) else "white"
    return "black"


def _place(ends: np.ndarray, at: float) -> int:
    """Number of the cell, between ends that rise or fall, that a coordinate lies in."""
    return int(np.clip(np.sum((ends < at) if ends[0] < ends[-1] else (ends > at)) - 1, 0, len(ends) - 2))


def _white(line: Any) -> bool:
    colour = line.get_color() if hasattr(line, "get_color") else (0.0, 0.0, 0.0)
    return not isinstance(colour, str) and len(np.shape(colour)) == 1 and float(np.mean(colour[:3])) > LIGHT

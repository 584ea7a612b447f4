"""Data of a drawn figure: every panel of a Matplotlib figure as series of numbers with their looks.

The interactive panels of a report and the figure that lays several runs over each other are made from these, so that
an experiment draws its figure once.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import (
    FillBetweenPolyCollection,
    LineCollection,
    PathCollection,
    PolyCollection,
    QuadMesh,
)
from matplotlib.colors import LogNorm, to_rgba
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter

Pair = tuple[np.ndarray, np.ndarray]


@dataclass(eq=False)
class Series:
    """Numbers drawn with one look.

    Attributes:
        kind: points (with or without a line), area (a closed outline), bars or image.
        x, y: coordinates; NaN where a line has a gap.
        x_error, y_error: sizes of the error bars below and above, None where there are none.
        label: its entry in the legend; empty if there is none.
        colour: red, green, blue and opacity, each from 0 to 1.
        marker, line: signs of Matplotlib, empty for none.
        values: of an image, its numbers [rows, columns] or colours [rows, columns, 3].
        colours: of an image of numbers or a cell with its shade, the colour map.
        limits: of these, the numbers that the ends of the colour map stand for.
        logarithmic: of an image of numbers, whether colours follow their logarithm.
        cell: of an area, whether it is one cell of a map, whose colour says what is there.
        hatch: of a cell, the sign of its hatching.
    """

    kind: str
    x: np.ndarray
    y: np.ndarray
    x_error: Pair | None = None
    y_error: Pair | None = None
    label: str = ""
    colour: Any = (0.0, 0.0, 0.0, 1.0)
    marker: str = ""
    line: Any = ""
    values: np.ndarray | None = None
    colours: Any = None
    limits: tuple[float, float] = (0.0, 1.0)
    logarithmic: bool = False
    cell: bool = False
    hatch: str = ""


@dataclass(eq=False)
class Axis:
    """One axis of a panel: its label, scale and ends, and ticks with texts where they are named."""

    label: str
    scale: str
    limits: tuple[float, float]
    ticks: list[tuple[float, str]] = field(default_factory=list)


@dataclass(eq=False)
class Panel:
    """One panel of a figure."""

    title: str
    x: Axis
    y: Axis
    series: list[Series]
    texts: list[tuple[float, float, str]] = field(default_factory=list)
    colour_label: str = ""
    colour_bar: bool = False

    @property
    def is_map(self) -> bool:
        """Whether the panel shows its measurement by colour. Such a panel cannot be overlaid with others."""
        return any(series.kind == "image" or series.cell for series in self.series)


def panels(figure: Figure) -> list[Panel]:
    """Panels of a figure that show something, in the order in which they were made."""
    bars = [ax for ax in figure.axes if ax.get_label() == "<colorbar>"]
    shown = [_panel(ax) for ax in figure.axes if ax not in bars]
    if len(bars) == 1:  # which is that of all maps, whichever of them it was made for
        for panel in shown:
            if any(series.kind == "image" for series in panel.series):
                panel.colour_label, panel.colour_bar = _label(bars[0]), True
    return [panel for panel in shown if panel.series]


def _label(bar: Axes) -> str:
    """Label of a colour bar."""
    return bar.get_ylabel() or bar.get_xlabel()


def _panel(ax: Axes) -> Panel:
    texts = [(*text.get_position(), text.get_text()) for text in ax.texts if text.get_transform() == ax.transData]
    title = ax.get_title(loc="left") or ax.get_title()
    x = Axis(ax.get_xlabel(), ax.get_xscale(), ax.get_xlim(), _ticks(ax.xaxis))
    y = Axis(ax.get_ylabel(), ax.get_yscale(), ax.get_ylim(), _ticks(ax.yaxis))
    bars = [part.colorbar.ax for part in (*ax.images, *ax.collections) if part.colorbar is not None]
    return Panel(title, x, y, list(_series(ax)), texts, _label(bars[0]) if bars else "", bool(bars))


def _ticks(axis: Any) -> list[tuple[float, str]]:
    """Places and texts of the ticks of an axis with named ticks. Empty for an axis of numbers."""
    formatter = axis.get_major_formatter()
    named = isinstance(formatter, FuncFormatter) and isinstance(axis.get_major_locator(), FixedLocator)
    if not isinstance(formatter, FixedFormatter) and not named:
        return []
    places = axis.get_majorticklocs()
    texts = formatter.seq if isinstance(formatter, FixedFormatter) else formatter.format_ticks(places)
    return list(zip(map(float, places), texts, strict=False))


def _series(ax: Axes) -> Iterator[Series]:
    seen: set[int] = set()
    for container in ax.containers:
        if isinstance(container, ErrorbarContainer):
            line, caps, bars = container.lines
            seen |= {id(part) for part in (line, *caps, *bars) if part is not None}
            if line is not None and len(np.atleast_1d(line.get_xdata())):
                yield _with_errors(container, _text(container.get_label()))
    for image in (*ax.images, *(each for each in ax.collections if isinstance(each, QuadMesh))):
        yield _image(image)
    for line in ax.lines:
        if id(line) not in seen and len(np.atleast_1d(line.get_xdata())):
            yield _line(line, ax)
    for part in ax.collections:
        if id(part) not in seen and not isinstance(part, QuadMesh):
            yield from _collection(part)
    for patch in ax.patches:
        if isinstance(patch, Rectangle):
            x, y, width, height = patch.get_x(), patch.get_y(), patch.get_width(), patch.get_height()
            corners = np.array([[x, y], [x + width, y], [x + width, y + height], [x, y + height], [x, y]], float)
            yield Series("area", *corners.T, label=_text(patch.get_label()), colour=to_rgba(patch.get_facecolor()))


def _text(label: Any) -> str:
    return "" if label is None or str(label).startswith("_") else str(label)


def _numbers(values: Any) -> np.ndarray:
    return np.ma.filled(np.ma.asarray(values, float), np.nan)


def _look(line: Line2D) -> dict[str, Any]:
    marker, style = line.get_marker(), line.get_linestyle()
    dashes: Any = getattr(line, "_unscaled_dash_pattern", (0, None))
    shown = style not in ("None", "", " ", "none") and line.get_linewidth() > 0
    return {
        "colour": to_rgba(line.get_color(), line.get_alpha()),
        "marker": "" if marker in (None, "None", "none", "", " ") else str(marker),
        "line": (tuple(dashes[1]) if dashes[1] else "-") if shown else "",
    }


def _line(line: Line2D, ax: Axes) -> Series:
    x, y = _numbers(line.get_xdata()), _numbers(line.get_ydata())
    if line.get_transform() == ax.get_yaxis_transform():  # axhline: x counts from one side to the other
        x = np.array(ax.get_xlim())
    elif line.get_transform() == ax.get_xaxis_transform():
        y = np.array(ax.get_ylim())
    return Series("points", x, y, label=_text(line.get_label()), **_look(line))


def _with_errors(container: ErrorbarContainer, label: str) -> Series:
    line, _, bars = container.lines
    assert isinstance(line, Line2D)
    x, y = _numbers(line.get_xdata()), _numbers(line.get_ydata())
    errors: list[Pair | None] = [None, None]
    kinds = [kind for kind, has in enumerate((container.has_xerr, container.has_yerr)) if has]
    for kind, bar in zip(kinds, bars, strict=False):
        nothing = np.full((2, 2), np.nan)
        segments = [np.asarray(segment, float).reshape(-1, 2) for segment in bar.get_segments()]
        ends = [(segment if len(segment) == 2 else nothing)[:, kind] for segment in segments]
        middle = (x, y)[kind]
        if len(ends) == len(middle) > 0:
            low, high = np.array(ends).T
            errors[kind] = (middle - low, high - middle)
    return Series("points", x, y, *errors, label=label, **_look(line))


def _collection(part: Any) -> Iterator[Series]:
    label, lines, faces = _text(part.get_label()), getattr(part, "get_color", list)(), part.get_facecolor()
    if isinstance(part, PathCollection):
        x, y = _numbers(part.get_offsets()).reshape(-1, 2).T
        colour = tuple(next(iter(faces), (0.0, 0.0, 0.0, 1.0)))
        yield Series("points", x, y, label=label, colour=colour, marker="o")
    elif isinstance(part, LineCollection):
        gap = np.full((1, 2), np.nan)
        joined = [piece for segment in part.get_segments() for piece in (np.asarray(segment, float), gap)]
        if joined:
            x, y = np.concatenate(joined[:-1]).T
            styles: Any = part.get_linestyle()
            dashes = styles[0][1]
            yield Series("points", x, y, label=label, colour=tuple(lines[0]), line=tuple(dashes) if dashes else "-")
    elif isinstance(part, PolyCollection):
        part.update_scalarmappable()  # where faces are shades of values
        faces = _numbers(part.get_facecolor()).reshape(-1, 4)
        look: dict[str, Any] = {"label": label, "cell": not isinstance(part, FillBetweenPolyCollection)}
        look["hatch"] = part.get_hatch() or ""
        if part.get_array() is not None:
            low, high = part.get_clim()
            look |= {"colours": part.cmap, "limits": (float(low or 0.0), float(1.0 if high is None else high))}
        for path, face in zip(part.get_paths(), itertools.cycle(faces)):
            x, y = np.asarray(path.vertices, float).T
            yield Series("area", x, y, colour=tuple(face), **look)


def _image(image: Any) -> Series:
    values = _numbers(image.get_array())
    if isinstance(image, AxesImage):
        left, right, bottom, top = image.get_extent()
        rows, columns = values.shape[:2]
        x, y = np.linspace(left, right, columns + 1), np.linspace(bottom, top, rows + 1)
        if image.origin == "upper":
            y = y[::-1]
    else:
        grid = np.asarray(image.get_coordinates(), float)
        x, y = grid[0, :, 0], grid[:, 0, 1]
        values = values.reshape(len(y) - 1, len(x) - 1, *values.shape[2:])
    norm: Any = image.norm
    limits = (float(norm.vmin or 0.0), float(1.0 if norm.vmax is None else norm.vmax))
    logarithmic = isinstance(norm, LogNorm)
    return Series("image", x, y, values=values, colours=image.cmap, limits=limits, logarithmic=logarithmic)

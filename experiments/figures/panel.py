"""Panels of a figure as data: series of numbers with errors and looks, axes, and the makers of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from experiments.contract import Table, records
from experiments.figures import extents, labels, style
from experiments.figures.style import THEORY
from experiments.figures.words import readable

SHARE = (-0.03, 1.03)
"""Limits of an axis of shares."""
ENDS = ("low", "high", "stderr")


@dataclass(eq=False)
class Series:
    """Numbers drawn with one look, under Matplotlib's names.

    Attributes:
        x, y: coordinates; NaN or None where a line has a gap; nothing for an entry of the legend alone.
        error, x_error: sizes of the error bars, for both sides or as (below, above).
        label: its entry in the legend; empty if it has none.
        color, marker, linestyle, markerfacecolor, markersize, linewidth, alpha, zorder: its look.
        kind: "points", with or without a line; "band" from y to `top`; "level" or "upright", a line from side to side
            at one y or one x.
        top: upper ends of a band.
        samples: independent draws behind each point, 0 where they are not known.
    """

    x: Any
    y: Any
    error: Any = None
    x_error: Any = None
    label: str = ""
    color: Any = "0.25"
    marker: str | int = ""
    linestyle: Any = ""
    markerfacecolor: Any = None
    markersize: float | None = None
    linewidth: float | None = None
    alpha: float = 1.0
    zorder: float | None = None
    kind: str = "points"
    top: Any = None
    samples: Any = None

    def __post_init__(self) -> None:
        self.x, self.y, self.label = _numbers(self.x), _numbers(self.y), readable(self.label)
        self.error, self.x_error = (_both_sides(error, self.x) for error in (self.error, self.x_error))
        self.top = None if self.top is None else _numbers(self.top)
        self.samples = None if self.samples is None else np.nan_to_num(_numbers(self.samples))
        self.marker, self.linestyle = ("" if sign in (None, "none") else sign for sign in (self.marker, self.linestyle))

    @property
    def is_grey(self) -> bool:
        """True if it is a line of theory or a guide, which no run measured."""
        from matplotlib.colors import to_rgb  # which an experiment that is measured does without

        return bool(np.ptp(to_rgb(self.color)) < 0.02) and not self.marker


@dataclass(eq=False)
class Axis:
    """Axis of a panel: label, scale ("linear" or "log"), ends (None: the data's), ticks by place and text."""

    label: str = ""
    scale: str = "linear"
    limits: tuple[float | None, float | None] = (None, None)
    ticks: Sequence[tuple[float, str]] | None = None

    def __post_init__(self) -> None:
        self.label = readable(self.label)
        self.ticks = None if self.ticks is None else [(place, readable(text)) for place, text in self.ticks]


@dataclass(eq=False)
class Heat:
    """Cells of a map between edges x [columns + 1] and y [rows + 1].

    Attributes:
        values: numbers [rows, columns], NaN where there is none.
        label: of the colour bar; without one there is none.
        limits: numbers that the ends of the colours stand for.
        texts: what stands in each cell, if anything does.
    """

    values: Any
    x: Any
    y: Any
    label: str = ""
    limits: tuple[float, float] = (0.0, 1.0)
    colours: str = "cividis"
    texts: Sequence[Sequence[str]] | None = None


@dataclass(eq=False)
class Panel:
    """Panel of a figure.

    Attributes:
        title: what it shows.
        x, y: its axes.
        series: drawn in this order.
        heat: cells below them.
        draw: what draws it on axes of Matplotlib, if it is a picture.
        legend: title of its legend.
        key: what it shares with the panels of other runs; its title and the labels of its axes if empty.
        span, height: columns of the figure that it takes, and inches (None: by what it holds).
    """

    title: str = ""
    x: Axis = field(default_factory=Axis)
    y: Axis = field(default_factory=Axis)
    series: Sequence[Series] = ()
    heat: Heat | None = None
    draw: Callable[[Any], None] | None = None
    legend: str = ""
    key: str = ""
    span: int = 1
    height: float | None = None

    def __post_init__(self) -> None:
        self.title, self.legend = readable(self.title), readable(self.legend)

    @property
    def is_map(self) -> bool:
        """True if colours or a picture show the measurement, so that no other run can be laid over it."""
        return self.heat is not None or self.draw is not None

    def ends(self, side: str) -> tuple[float, float]:
        """Ends of the axis "x" or "y": as asked for, else the data's with a margin."""
        axis: Axis = getattr(self, side)
        first, last = axis.limits
        low, high = extents.extent(self, side, axis.scale == "log")
        if self.heat is None:
            low, high = extents.with_margin(low, high, axis.scale == "log")
        return low if first is None else first, high if last is None else last


def curves(
    frame: Table,
    x: str,
    y: str,
    *,
    by: str | None = None,
    theory: str | None = None,
    label: str | Callable[[Any], str] = labels.literal,
    looks: Mapping[str, Any] | None = None,
) -> list[Series]:
    """Measured curves, one for every value of a column, with theory as lines of the same colours.

    Error bars reach from `<y>_low` to `<y>_high`, or are the column `<y>_stderr`; of a `value` from `low` to `high`, or
    its `stderr`, also the error of a `mean`.

    Args:
        frame: rows of means.
        x, y: columns of the axes.
        by: the column that tells curves apart, if there are several.
        theory: column of theory at the same places; if given, measured points are not joined.
        label: entries of the legend, as a format or a function of the value of `by`.
        looks: looks by the text of that value, as `style.series` makes them, also if none are given.
    """
    groups = list(frame.groupby(by, sort=False)) if by else [("", frame)]
    looks = looks or style.series([str(value) for value, _ in groups])
    found = []
    for value, rows in groups:
        rows, look = rows.sort_values(x), looks[str(value)]
        if theory is not None:
            found.append(theory_line(rows[x], rows[theory], color=look["color"]))
            look = look | {"linestyle": ""}
        text = str(label(value)) if callable(label) else label.format(value)
        samples = rows.get("clusters", rows.get("samples"))
        found.append(Series(rows[x], rows[y], _bars(rows, y), label=text if by else "", samples=samples, **look))
    return found


def shares(frame: Table, x: str, **options: Any) -> list[Series]:
    """Shares of `clusters.by_group` against a column with their intervals. Further options go to `curves`."""
    return curves(
        frame.rename(columns={"mean": "share", "low": "share_low", "high": "share_high"}), x, "share", **options
    )


def heat(frame: Table, x: Axis, y: Axis, title: str = "", **options: Any) -> Panel:
    """Panel of a table of numbers as coloured cells, its columns and index named along the axes.

    Args:
        frame: one number for every cell.
        x, y: axes, which get the names as ticks.
        title: of the panel.
        options: fields of `Heat`.
    """
    values = frame.to_numpy(float)
    x.ticks, y.ticks = (
        [(place, readable(str(name))) for place, name in enumerate(names)] for names in (frame.columns, frame.index)
    )
    y.limits = (len(values) - 0.5, -0.5)
    edges = [np.arange(count + 1) - 0.5 for count in (values.shape[1], values.shape[0])]
    return Panel(title, x, y, heat=Heat(values, *edges, **options))


def free(draw: Callable[[Any], None], title: str = "", **options: Any) -> Panel:
    """Panel that a function draws on axes of Matplotlib: a picture, which pages show as it is."""
    return Panel(title, draw=draw, **options)


def theory_line(x: Any, y: Any, label: str = "", **look: Any) -> Series:
    """Line of theory."""
    return Series(x, y, label=label, **THEORY | look)


def theory_lines(lines: Table, looks: Callable[[Any], Mapping[str, Any]] = lambda row: {}, **look: Any) -> list[Series]:
    """Lines of theory of a summary, each with a look of all or by its own row."""
    return [theory_line(row["x"], row["y"], **{**look, **looks(row)}) for row in records(lines)]


def entry(label: str, **look: Any) -> Series:
    """Entry of the legend that stands for several series."""
    return Series([], [], label=label, **look)


def level(y: float, label: str = "", **look: Any) -> Series:
    """Line of theory from side to side at one y."""
    return Series([], [y], label=label, kind="level", **THEORY | look)


def upright(x: float, label: str = "", **look: Any) -> Series:
    """Line of theory from bottom to top at one x."""
    return Series([x], [], label=label, kind="upright", **THEORY | look)


def guide(y: float) -> Series:
    """Thin level that guides the eye, as at a half."""
    return level(y, color="0.8", linestyle="-", linewidth=0.8, zorder=0)


def band(x: Any, low: Any, high: Any, **look: Any) -> Series:
    """Band between two ends."""
    look = {"alpha": 0.15} | look
    return Series(x, low, kind="band", top=high, **look)


def _numbers(values: Any) -> np.ndarray:
    return np.atleast_1d(np.asarray(values, dtype=float))


def _both_sides(error: Any, x: np.ndarray) -> np.ndarray | None:
    """Errors [2, points] below and above. An unknown one is no bar, and where none is known there are none."""
    if error is None or np.isnan(np.asarray(error, float)).all():
        return None
    return np.broadcast_to(np.clip(np.nan_to_num(np.asarray(error, float)), 0, None), (2, len(x)))


def _bars(rows: Table, y: str) -> Any:
    low, high, error = ("low", "high", "stderr") if y in ("mean", "value") else (f"{y}_{end}" for end in ENDS)
    return (rows[y] - rows[low], rows[high] - rows[y]) if low in rows and y != "mean" else rows.get(error)

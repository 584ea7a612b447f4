"""Figures of Matplotlib: panels laid out in rows, lettered, each with its legend below the data, no text cut."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullFormatter, ScalarFormatter
from matplotlib.transforms import ScaledTranslation

from experiments.figures import legends
from experiments.figures.fitting import width_of, wrapped
from experiments.figures.legends import LINE, SMALL, Entries
from experiments.figures.panel import Axis, Heat, Panel, Series

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WIDTH, NARROW, COLUMNS = 4.1, 3.4, 3
"""Inches of a panel, inches that a panel is given at least where a width is asked for, and panels in a row."""
TITLE, LABEL, TICK = 10.5, 10.0, 9.5
"""Points of the letters of titles, labels of axes, and ticks."""
SHAPE, FLATTEST = 2.6 / 3.4, 1.2
"""Height of a figure of one panel over the width that is asked for, and inches of its axes at least."""
BELOW = 0.46
"""Inches below a panel that ticks and the first line of the label take."""


class _Numbers(ScalarFormatter):
    """Texts of ticks as text: reading each as a formula takes half of the time of a figure. Powers remain formulas."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """The text of a tick."""
        return super().__call__(x, pos).removeprefix(r"$\mathdefault{").removesuffix("}$")


class Slot(NamedTuple):
    """Place of a panel: its row, first column and number of columns, inches across, and its axes' inches both ways.

    Its legend has the entries `own`, left by the figure's legend.
    """

    panel: Panel
    row: int
    column: int
    span: int
    width: float
    inside: float
    plot: float
    own: Entries

    @property
    def title(self) -> str:
        """Title of its legend; the figure's legend may have the other entries of the title."""
        return self.panel.legend if len(self.own) == len(legends.entries_of(self.panel)) else ""


def figure(panels: Sequence[Panel], width: float | None = None) -> Figure:
    """Figure of panels.

    Args:
        panels: what it shows, in reading order.
        width: inches across, which say how many panels stand in a row; None: at most three.
    """
    columns = min(COLUMNS, len(panels)) if len(panels) != 4 else 2
    if width is not None:
        columns = max(1, min(columns, round(width / NARROW)))
    whole = width or WIDTH * columns + 0.4
    shared, sharing = legends.shared(panels)
    slots = _slots(panels, columns, whole / columns)
    for place in sharing:
        own = {text: part for text, part in slots[place].own.items() if text not in shared}
        slots[place] = slots[place]._replace(own=own)
    if len(slots) == 1 and width is not None and panels[0].height is None:
        slots = [_in_shape(slots[0])]
    heights = [1.0] * (slots[-1].row + 1 if slots else 1)
    for slot in slots:
        heights[slot.row] = max(heights[slot.row], _height(slot))
    title = panels[sharing[0]].legend if shared else ""
    if shared and any(slot.own for place, slot in enumerate(slots) if place not in sharing):
        letters = [LETTERS[place] for place in sharing]
        run = f"{letters[0]} to {letters[-1]}" if "".join(letters) in LETTERS else ", ".join(letters)
        title = f"{title} ({run})" if title else run
    foot = legends.height(shared, whole, bool(title)) if shared else 0.0
    made = Figure(figsize=(whole, sum(heights) + foot), layout="constrained")
    grid = made.add_gridspec(len(heights), max(1, columns), height_ratios=heights)
    for number, slot in enumerate(slots):
        ax = made.add_subplot(grid[slot.row, slot.column : slot.column + slot.span])
        draw(ax, slot, "" if len(panels) == 1 else LETTERS[number : number + 1])
        _legend(ax, slot)
    if shared:
        made.legend(**_look_of_legend(shared, whole, title), loc="outside lower center")
    return made


def _slots(panels: Sequence[Panel], columns: int, each: float) -> list[Slot]:
    """Places of panels in reading order. All axes are equally wide, as margins leave place."""
    slots: list[Slot] = []
    row = column = 0
    for panel in panels:
        span = min(panel.span, columns)
        if column + span > columns:
            row, column = row + 1, 0
        whole, plot = each * span, panel.height or _plot_height(panel, each * span)
        inside = whole - _beside(panel, whole)
        slots.append(Slot(panel, row, column, span, whole, inside, plot, legends.entries_of(panel)))
        column += span
    beside = {slot.column: 0.0 for slot in slots}
    for slot in slots:
        beside[slot.column] = max(beside[slot.column], slot.width - slot.inside)
    margin = sum(beside.values()) / max(1, len(beside))
    return [slot._replace(inside=slot.width - margin) for slot in slots]


def draw(ax: Axes, slot: Slot, letter: str = "") -> None:
    """Draw a panel on axes, without its legend. Texts are wrapped to the place that it has."""
    panel = slot.panel
    if panel.draw is not None:
        panel.draw(ax)
    if panel.heat is not None:
        _heat(ax, panel.heat)
    for part in panel.series if panel.draw is None else ():
        _series(ax, part)
    if title := _title(panel, letter):
        ax.set_title(wrapped(title, slot.inside, TITLE), loc="left", fontsize=TITLE)
    if panel.draw is not None:
        return
    ax.set_xlabel(wrapped(panel.x.label, slot.inside, LABEL))
    ax.set_ylabel(wrapped(panel.y.label, slot.plot, LABEL))
    for side, axis in (("x", panel.x), ("y", panel.y)):
        _axis(ax, side, axis, panel.ends(side), slot.inside if side == "x" else slot.plot)
    _fit_ticks(ax, panel.x, slot.inside)


def onto(ax: Axes, panel: Panel) -> None:
    """Draw a panel, its legend below it, on axes of any figure."""
    width, height = (side / ax.figure.dpi for side in ax.bbox.size)
    slot = Slot(panel, 0, 0, 1, width, width, height, legends.entries_of(panel))
    draw(ax, slot)
    _legend(ax, slot)


def _title(panel: Panel, letter: str) -> str:
    return f"{letter}  {panel.title}" if letter else panel.title


def _axis(ax: Axes, side: str, axis: Axis, ends: tuple[float, float], inches: float) -> None:
    ax.set(**{f"{side}scale": axis.scale, f"{side}lim": ends})
    ticks = ax.xaxis if side == "x" else ax.yaxis
    if isinstance(ticks.get_major_formatter(), ScalarFormatter):
        ticks.set_major_formatter(_Numbers())
    given = axis.ticks
    if axis.scale == "log" and given is None and max(ends) < 1e3 * min(ends):
        given = [(place, f"{place:g}") for place in _round_numbers(*sorted(ends))]
    if given is not None:
        places, texts = [place for place, _ in given], [text for _, text in given]
        if axis.scale == "log":
            sizes = [width_of(text, TICK) if side == "x" else TICK * LINE for text in texts]
            texts = _apart(places, texts, ends, [size / inches for size in sizes])
        getattr(ax, f"set_{side}ticks")(places, texts)
    if axis.ticks is not None:
        getattr(ax, f"set_{side}ticks")([], minor=True)
    elif axis.scale == "log":
        ticks.set_minor_formatter(NullFormatter())


def _round_numbers(low: float, high: float) -> list[float]:
    """Numbers with one digit, or few more, on a logarithmic axis of less than three decades: three and more."""
    powers = [10.0**power for power in range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)]
    for digits in ((1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9)):
        found = [digit * power for power in powers for digit in digits if low <= digit * power <= high]
        if len(found) > 2:
            return found
    return [float(number) for number in MaxNLocator(4).tick_values(low, high) if low <= number <= high]


def _apart(
    places: Sequence[float], texts: Sequence[str], ends: tuple[float, float], sizes: Sequence[float]
) -> list[str]:
    """Texts of ticks on a logarithmic axis, empty where one would lie on the one before it; sizes over the axis's."""
    shown, last = [], -1.0
    for place, text, size in zip(places, texts, sizes, strict=True):
        here = np.log(place / ends[0]) / np.log(ends[1] / ends[0])
        shown.append(text if here - size / 2 > last else "")
        last = here + size / 2 + 0.02 if shown[-1] else last
    return shown


def _fit_ticks(ax: Axes, axis: Axis, inside: float) -> None:
    """Turn the texts of named ticks that would overlap."""
    if _turned(axis, inside):
        ax.tick_params(axis="x", labelrotation=40)
        for text in ax.get_xticklabels():
            text.set(ha="right", rotation_mode="anchor")


def _turned(axis: Axis, inside: float) -> float:
    """Inches that named ticks take more where they are turned, as they would overlap; else 0."""
    widths = [width_of(text, TICK) for _, text in axis.ticks or ()]
    return 0.64 * max(widths) if sum(widths) + 0.08 * len(widths) > inside else 0.0


def _series(ax: Axes, part: Series) -> None:
    names = ("color", "alpha", "linewidth", "zorder")
    look: dict[str, Any] = {name: value for name in names if (value := getattr(part, name)) is not None}
    look["label"] = part.label or None
    if part.kind == "band":
        look = {"linewidth": 0} | look
        ax.fill_between(part.x, part.y, part.top, **look)
        return
    look["linestyle"] = part.linestyle or "none"
    if part.kind != "points":
        across, place = (ax.axhline, part.y) if part.kind == "level" else (ax.axvline, part.x)
        across(float(place[0]), **look)
        return
    marks = ("markerfacecolor", "markersize")
    look |= {"marker": part.marker or "none"} | {
        name: value for name in marks if (value := getattr(part, name)) is not None
    }
    if part.error is None and part.x_error is None:
        ax.plot(part.x, part.y, **look)
    else:
        ax.errorbar(
            part.x,
            part.y,
            part.error,
            part.x_error,
            **{"elinewidth": look.get("linewidth", 0.9), "linewidth": 1.0} | look,
        )


def _heat(ax: Axes, cells: Heat) -> None:
    values = np.ma.masked_invalid(np.asarray(cells.values, float))
    norm = Normalize(*cells.limits)
    image = ax.pcolormesh(cells.x, cells.y, values, cmap=cells.colours, norm=norm)
    ax.grid(False)
    ax.tick_params(length=0)
    if cells.label:
        ax.figure.colorbar(image, ax=ax, label=cells.label, fraction=0.06, pad=0.03)
    middle: Any = [(np.asarray(edges)[:-1] + np.asarray(edges)[1:]) / 2 for edges in (cells.x, cells.y)]
    texts: Any = cells.texts
    for (row, column), value in np.ndenumerate(values) if cells.texts is not None else ():
        shade = colormaps[cells.colours](norm(value))[:3] if np.isfinite(value) else (1, 1, 1)
        ink = "black" if np.mean(shade) > 0.45 else "white"
        place = middle[0][column], middle[1][row]
        ax.text(*place, texts[row][column], ha="center", va="center", fontsize=SMALL, color=ink)


def _in_shape(slot: Slot) -> Slot:
    """Place of a panel that is the whole figure, with axes that leave it the shape of a column's.

    They are no flatter than FLATTEST and no lower than the legend.
    """
    flat = slot._replace(plot=FLATTEST)
    least = max(FLATTEST, legends.height(slot.own, slot.inside, bool(slot.title), FLATTEST))
    return slot._replace(plot=max(least, SHAPE * slot.width - (_height(flat) - FLATTEST)))


def _height(slot: Slot) -> float:
    """Inches of a panel with its title, labels and legend."""
    panel = slot.panel
    lines = wrapped(_title(panel, "m"), slot.inside, TITLE).count("\n") + 1
    label = wrapped(panel.x.label, slot.inside, LABEL).count("\n") * LABEL
    legend = legends.height(slot.own, slot.inside, bool(slot.title), slot.plot)
    return slot.plot + 0.75 + (lines * TITLE + label) * LINE + legend + _turned(panel.x, slot.inside)


def _plot_height(panel: Panel, width: float) -> float:
    """Inches of the axes: by the width, and by the named ticks that stand on the left."""
    names = sum(1 + text.count("\n") for _, text in panel.y.ticks or ())
    return max(0.55 * min(width, WIDTH), 0.19 * names)


def _beside(panel: Panel, width: float) -> float:
    """Inches beside the axes: of the label and the ticks on their left, and a colour bar on their right."""
    lines = wrapped(panel.y.label, _plot_height(panel, width), LABEL).count("\n") + bool(panel.y.label)
    ticks = max((width_of(text, TICK) for _, text in panel.y.ticks or ()), default=0.42)
    bar = 0.65 if panel.draw is not None or (panel.heat is not None and panel.heat.label) else 0.0
    return lines * LABEL * LINE + ticks + bar + 0.2


def _look_of_legend(
    entries: Entries, width: float, title: str, pictured: Axes | None = None, most: float = np.inf
) -> dict[str, Any]:
    ax = Figure().subplots()  # signs alone: what is drawn may be an error bar, a band or a line
    placed = legends.layout(entries, width, most)
    for part in entries.values():
        _series(ax, part)
    found = [each.get_legend_handles_labels() for each in (ax, pictured) if each is not None]  # a picture's own count
    drawn = {text: sign for signs, labels in found for sign, text in zip(signs, labels, strict=True)}
    return {
        "handles": [drawn[text] for text in entries], "labels": placed.texts, "ncols": placed.columns,
        "fontsize": SMALL,
        "columnspacing": 1.0, "handletextpad": 0.5, "title": wrapped(title, width, SMALL) or None,
        "title_fontsize": SMALL, "borderaxespad": 0,
    }  # fmt: skip


def _legend(ax: Axes, slot: Slot) -> None:
    """Legend below a panel, outside the data."""
    lower = BELOW + ax.get_xlabel().count("\n") * LABEL * LINE + _turned(slot.panel.x, slot.inside)
    below = ax.transAxes + ScaledTranslation(0, -lower, ax.figure.dpi_scale_trans)
    if slot.own:
        place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "bbox_transform": below}
        pictured = None if slot.panel.draw is None else ax
        ax.legend(**_look_of_legend(slot.own, slot.inside, slot.title, pictured, slot.plot), **place)
    elif slot.title:
        words = wrapped(slot.title, slot.inside, SMALL)
        ax.text(0.5, 0.0, words, fontsize=SMALL, ha="center", va="top", transform=below)

"""Files of a figure: SVG with text as text, PNG, PDF, each small and the same bytes every time."""

import io
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from matplotlib.artist import Artist
from matplotlib.figure import Figure

from experiments import contract
from experiments.contract import Summary, Table
from experiments.figures import draw, extents, svg
from experiments.figures.panel import Axis, Panel
from experiments.figures.style import style
from experiments.system import files

DENSE = 1200
"""Points or patches that an artist draws as vectors at most; more of them are drawn as an image inside the axes."""
_DATELESS = {"svg": {"Date": None}, "png": {"Software": None}, "pdf": {"CreationDate": None}}


def save(
    directory: Path,
    panels: Callable[[Table, Summary], Sequence[Panel]],
    table: Table,
    summary: Summary,
    look: contract.Figure | None = None,
) -> tuple[Sequence[Panel], Figure]:
    """Draw figure.svg, .png and .pdf, or what else is asked for, in a directory.

    Args:
        directory: where they go.
        panels: makes the panels of a table and its summary.
        table, summary: what was measured.
        look: what a person asks of the figure.

    Returns:
        The panels and the figure.
    """
    look = look or contract.Figure()
    with style(look.style):
        shown, figure = build_figure(panels, table, summary, look)
        _prepare(figure)
        for suffix in contract.FORMATS:
            path = directory / f"figure.{suffix}"
            if suffix not in look.format:
                path.unlink(missing_ok=True)
                continue
            with files.replacing(path) as temporary:
                if suffix == "svg":
                    temporary.write_text(_svg(figure), encoding="utf-8")
                else:
                    figure.savefig(temporary, metadata=_DATELESS[suffix])
    return shown, figure


def picture(figure: Figure) -> str:
    """A figure as SVG, as its file has it."""
    _prepare(figure)
    return _svg(figure)


def _prepare(figure: Figure) -> None:
    for artist in _dense(figure):
        artist.set_rasterized(True)
    figure.draw_without_rendering()
    figure.set_layout_engine(None)  # one layout for all files: every file would be laid out, and drawn for that


def _svg(figure: Figure) -> str:
    held = io.StringIO()
    figure.savefig(held, format="svg", metadata=_DATELESS["svg"])
    return svg.shortened(held.getvalue())


def main_file(directory: Path, look: contract.Figure) -> Path:
    """The file of a figure that a person is pointed to."""
    return directory / f"figure.{look.format[0]}"


def build_figure(
    panels: Callable[[Table, Summary], Sequence[Panel]], table: Table, summary: Summary, look: contract.Figure
) -> tuple[Sequence[Panel], Figure]:
    """All panels of a table and its summary, and the figure of those that were asked for."""
    shown, asked = chosen(panels, table, summary, look)
    return shown, draw.figure(asked, look.width)


def chosen(
    panels: Callable[[Table, Summary], Sequence[Panel]], table: Table, summary: Summary, look: contract.Figure
) -> tuple[Sequence[Panel], Sequence[Panel]]:
    """All panels of a table and its summary, and those that were asked for."""
    shown = panels(table, summary)
    if not isinstance(shown, list):
        raise TypeError(f"panels of an experiment must return a list of Panel, got {type(shown).__name__}")
    for panel in shown if look.log else ():
        for side in look.log:
            _make_logarithmic(panel, side)
    return shown, _named(shown, look.panels)


def _named(panels: Sequence[Panel], names: Sequence[str]) -> Sequence[Panel]:
    """Panels by their letters or titles, in the order asked for; all if none is named."""
    letters = dict(zip(draw.LETTERS, panels, strict=False))
    places = letters | {panel.title: panel for panel in panels}
    if unknown := [name for name in names if name not in places]:
        known = ", ".join(f"{letter} ({panel.title})" for letter, panel in letters.items())
        raise contract.InputError(f"figure.panels must be letters or titles of {known}, got {unknown[0]}")
    return [places[name] for name in names] or panels


def _make_logarithmic(panel: Panel, side: str) -> None:
    """Make an axis logarithmic if all data on it are positive."""
    axis: Axis = getattr(panel, side)
    low, high = extents.extent(panel, side)
    if not panel.is_map and 0 < low < high:
        axis.scale, axis.limits = "log", (None, None)


def _dense(figure: Figure) -> Iterator[Artist]:
    """Lines and collections with too many points or patches for a vector file."""
    for ax in figure.axes:
        for line in ax.lines:
            if (
                line.get_marker() not in ("None", "none", "", " ", None)
                and len(np.atleast_1d(line.get_xdata())) > DENSE
            ):
                yield line
        for part in ax.collections:
            if max(len(part.get_paths()), len(np.atleast_2d(part.get_offsets()))) > DENSE:
                yield part

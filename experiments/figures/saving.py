"""Files of a figure: SVG with text as text, PNG, PDF, each small and the same bytes every time."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from experiments import contract
from experiments.contract import Table
from experiments.figures import svg
from experiments.figures.style import literal, style
from experiments.system import files

DENSE = 1200
"""Points or patches that an artist draws as vectors at most; more of them are drawn as an image inside the axes."""
_DATELESS = {"svg": {"Date": None}, "png": {"Software": None}, "pdf": {"CreationDate": None}}


def draw(
    directory: Path,
    plot: Callable[[Table, dict], Figure],
    table: pandas.DataFrame,
    summary: dict,
    look: contract.Figure | None = None,
) -> Figure:
    """Draw figure.svg, .png and .pdf, or what else is asked for, in a directory.

    Args:
        directory: where they go.
        plot: makes the figure of a table and its summary.
        table, summary: what was measured.
        look: what a person asks of the figure.

    Returns:
        The figure.
    """
    look = look or contract.Figure()
    with style(look.style):
        figure = build_figure(plot, table, summary, look)
        for artist in _dense(figure):
            artist.set_rasterized(True)
        figure.draw_without_rendering()
        figure.set_layout_engine(None)  # one layout for all files: every file would be laid out, and drawn for that
        for suffix in contract.FORMATS:
            path = directory / f"figure.{suffix}"
            if suffix not in look.format:
                path.unlink(missing_ok=True)
                continue
            with files.replacing(path) as temporary:
                figure.savefig(temporary, metadata=_DATELESS[suffix])
                if suffix == "svg":
                    temporary.write_text(svg.shortened(temporary.read_text(encoding="utf-8")), encoding="utf-8")
    return figure


def main_file(directory: Path, look: contract.Figure) -> Path:
    """The file of a figure that a person is pointed to."""
    return directory / f"figure.{look.format[0]}"


def build_figure(plot: Callable[[Table, dict], Figure], table: Table, summary: dict, look: contract.Figure) -> Figure:
    """The figure of a table and its summary as it was asked for, to be saved or changed further."""
    figure = plot(literal(table), literal(summary))
    if look.width is not None:
        _resize(figure, look.width)
    for ax in figure.axes:
        if not ax.images and ax.get_label() != "<colorbar>":
            for name in look.log:
                _make_logarithmic(ax, name)
        for name, axis in (("x", ax.xaxis), ("y", ax.yaxis)):
            if axis.get_scale() == "log" and min(axis.get_view_interval()) <= 0 and np.isinf(axis.get_minpos()):
                ax.set(**{f"{name}lim": (1.0, 10.0)})  # as of a panel without data, which this one is
    return figure


def _resize(figure: Figure, width: float) -> None:
    """Scale a figure to another width. Text shrinks with a smaller figure and does not grow with a larger one."""
    factor = width / figure.get_figwidth()
    figure.set_size_inches(width, figure.get_figheight() * factor)
    if factor >= 1:
        return
    for text in figure.findobj(Text):
        text.set_fontsize(float(text.get_fontsize()) * factor)
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            for label in axis.get_ticklabels()[:1]:  # further ticks have the size of those there are
                axis.set_tick_params(labelsize=label.get_fontsize())


def _make_logarithmic(ax: Axes, name: str) -> None:
    """Make an axis logarithmic if all data on it are positive."""
    low, high = ax.dataLim.intervalx if name == "x" else ax.dataLim.intervaly
    if 0 < low < high:
        ax.set(**{f"{name}scale": "log"})
        ax.autoscale(axis=name)  # type: ignore[arg-type]


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

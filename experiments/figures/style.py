"""Style of all figures: colours, markers, panels, and the files they are saved as."""

import contextlib
import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas
from matplotlib.figure import Figure

from experiments.shared import files

Table = Any
"""A pandas.DataFrame, whose columns no type checker knows."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (1, 1)))
THEORY: dict[str, Any] = {"color": "0.25", "linestyle": (0, (4, 2)), "linewidth": 1.1, "marker": "none", "zorder": 1.5}
SUFFIXES = ("svg", "png", "pdf")

_DATELESS = {"svg": {"Date": None}, "png": {"Software": None}, "pdf": {"CreationDate": None}}
_STYLE: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.formatter.use_mathtext": True,
    "axes.grid": True,
    "axes.labelsize": 10,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.5,
    "errorbar.capsize": 2,
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "grid.color": "0.9",
    "grid.linewidth": 0.6,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "lines.linewidth": 1.5,
    "lines.markersize": 4.5,
    "mathtext.fontset": "dejavusans",
    "pdf.fonttype": 42,
    "savefig.dpi": 200,
    "svg.hashsalt": "hopfield",
}
_UNTOLD = ("Data has no positive values", "Attempt to set non-positive", r"Glyph \d+ .* missing from font")
"""What Matplotlib says of a panel without anything to show, or of a sign in a name that its fonts lack."""


@contextlib.contextmanager
def style() -> Iterator[None]:
    """Matplotlib's settings in the house style for the length of a block."""
    with matplotlib.rc_context(), warnings.catch_warnings():
        for nothing in _UNTOLD:
            warnings.filterwarnings("ignore", nothing, UserWarning)
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        yield


def panels(rows: int = 1, columns: int = 1, *, width: float = 8.0, height: float = 3.4) -> tuple[Figure, np.ndarray]:
    """A figure of panels laid out without overlaps.

    Args:
        rows, columns: number of panels down and across.
        width: inches of the whole figure.
        height: inches of each row.

    Returns:
        The figure and its axes, an array [rows, columns].
    """
    figure = Figure(figsize=(width, height * rows), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def series(labels: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Colour, marker and line style for each label, by its place, as keyword arguments of matplotlib."""
    looks = zip(itertools.cycle(COLOURS), itertools.cycle(MARKERS), itertools.cycle(LINES), strict=False)
    return {
        label: {"color": colour, "marker": marker, "linestyle": line}
        for label, (colour, marker, line) in zip(dict.fromkeys(labels), looks, strict=False)
    }


def read_table(path: Path) -> pandas.DataFrame:
    """A saved table; summaries and figures are made from this, so that a run and a redraw see the same numbers."""
    return pandas.read_csv(path)


def draw(directory: Path, plot: Callable[[Table, dict], Figure], table: pandas.DataFrame, summary: dict) -> Figure:
    """Draw figure.svg, .png and .pdf in a directory.

    Args:
        directory: where they go.
        plot: makes the figure of a table and its summary.
        table, summary: what was measured.

    Returns:
        The figure.
    """
    with style():
        figure = plot(literal(table), literal(summary))
        figure.draw_without_rendering()
        figure.set_layout_engine(None)  # one layout for all files: every file would be laid out, and drawn for that
        for suffix in SUFFIXES:
            with files.replacing(directory / f"figure.{suffix}") as temporary:
                figure.savefig(temporary, metadata=_DATELESS[suffix])
    return figure


def literal(value: Any) -> Any:
    """A table, cell or summary with texts that Matplotlib shows as they are: no dollar of a name begins a formula."""
    if isinstance(value, pandas.DataFrame):
        texts: dict[str, Any] = {
            str(name): column.map(literal) for name, column in value.items() if column.dtype.kind not in "biuf"
        }
        return value.assign(**texts)
    if isinstance(value, dict):
        return {literal(key): literal(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [literal(entry) for entry in value]
    return value.replace("$", r"\$") if isinstance(value, str) else value

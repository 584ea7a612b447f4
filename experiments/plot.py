"""The house style of figures, and drawing a figure again from saved results: `python -m experiments.plot DIR`.

Colours are those of Okabe & Ito (2008), told apart by colour-blind readers; every series also has its own marker and
line style, so that a figure reads in grey. Figures are built on `matplotlib.figure.Figure`, never on pyplot: no window,
no state. Files carry no date, so the same table gives the same bytes.
"""

import contextlib
import itertools
import json
import os
import reprlib
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments import base, boundary
from experiments.base import InputError

if TYPE_CHECKING:
    import numpy as np
    import pandas
    from matplotlib.figure import Figure

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
USAGE = "usage: python -m experiments.plot DIR [DIR ...]   draws figure.svg, .png and .pdf again from the saved table"


@contextlib.contextmanager
def style() -> Iterator[None]:
    """Matplotlib's settings in the house style for the length of a block."""
    import matplotlib

    with matplotlib.rc_context(), warnings.catch_warnings():
        for nothing in _UNTOLD:
            warnings.filterwarnings("ignore", nothing, UserWarning)
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        yield


def panels(rows: int = 1, columns: int = 1, *, width: float = 8.0, height: float = 3.4) -> "tuple[Figure, np.ndarray]":
    """A figure of panels laid out without overlaps.

    Args:
        rows, columns: number of panels down and across.
        width: inches of the whole figure.
        height: inches of each row.

    Returns:
        The figure and its axes, an array [rows, columns].
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height * rows), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def series(labels: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Colour, marker and line style for each label, by its place, as keyword arguments of matplotlib."""
    looks = zip(itertools.cycle(COLOURS), itertools.cycle(MARKERS), itertools.cycle(LINES), strict=False)
    return {
        label: {"color": colour, "marker": marker, "linestyle": line}
        for label, (colour, marker, line) in zip(dict.fromkeys(labels), looks, strict=False)
    }


def read_table(path: Path) -> "pandas.DataFrame":
    """A saved table; summaries and figures are made from this, so that a run and a redraw see the same numbers."""
    import pandas

    return pandas.read_csv(path)


def draw(directory: Path, experiment: Any) -> Path:
    """Draw figure.svg, .png and .pdf in a directory from the table.csv and summary.json there.

    Args:
        directory: results of a finished run.
        experiment: the module that made them.

    Returns:
        Path of figure.svg.
    """
    table = read_table(directory / "table.csv")
    summary = json.loads((directory / "summary.json").read_text(encoding="utf-8"))
    with style():
        figure = experiment.plot(table.map(_literal), _literal(summary))
        for suffix in SUFFIXES:
            with base.replacing(directory / f"figure.{suffix}") as temporary:
                figure.savefig(temporary, metadata=_DATELESS[suffix])
    return directory / "figure.svg"


def _literal(value: Any) -> Any:
    """A cell or a summary with texts that Matplotlib shows as they are: no dollar of a name begins a formula."""
    if isinstance(value, dict):
        return {_literal(key): _literal(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_literal(entry) for entry in value]
    return value.replace("$", r"\$") if isinstance(value, str) else value


def redraw(directory: Path) -> Path:
    """Draw the figure of a saved run again; its config.yaml says which experiment it is of.

    Raises:
        InputError: the directory does not hold the results of a finished run.
    """
    import yaml

    names = ("config.yaml", "table.csv", "summary.json")
    missing = [name for name in names if not os.path.isfile(directory / name)]  # False for a name too long, too
    if missing:
        raise InputError(f"{directory} must hold the results of a finished run, got no {' and no '.join(missing)}")
    try:
        experiment = yaml.safe_load((directory / "config.yaml").read_text(encoding="utf-8"))["experiment"]
    except (yaml.YAMLError, ValueError, TypeError, KeyError, RecursionError):
        experiment = None
    if experiment not in base.names():
        given = reprlib.repr(experiment)
        raise InputError(f"{directory}/config.yaml must name its experiment ({', '.join(base.names())}), got {given}")
    try:
        return draw(directory, base.load(str(experiment)))
    except OSError as error:
        raise InputError(f"{directory} cannot be drawn: {error}") from error
    except Exception as error:  # a figure can stumble over anything in a file that was changed by hand
        why = boundary.shown(error)
        raise InputError(f"{directory} cannot be drawn: its table or summary is damaged ({why})") from error


def main(argv: Sequence[str] | None = None) -> int:
    """Run `experiments.plot` on the given words (default: those of the command line); returns the exit code."""
    return boundary.guarded(lambda: _redrawn(sys.argv[1:] if argv is None else list(argv)))


def _redrawn(words: Sequence[str]) -> int:
    if not words or set(words) & {"-h", "--help"}:
        print(USAGE, file=sys.stdout if words else sys.stderr)
        return 0 if words else 2
    for word in words:
        print(f"figure: {redraw(Path(os.path.expanduser(word)))}")
    return 0


if __name__ == "__main__":
    sys.exit(boundary.guarded(lambda: _redrawn(sys.argv[1:]), final=True))

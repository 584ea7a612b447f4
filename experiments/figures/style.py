"""Style of all figures: the house style with a user's changes, colours, markers, panels."""

import contextlib
import logging
import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from cycler import cycler

from experiments import contract
from experiments.system import files

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MORE = ("#332288", "#DDCC00", "#B8B8B8")
"""Colours of further series, where there are more than seven."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (1, 1)))
THEORY: dict[str, Any] = {"color": "0.25", "linestyle": (0, (4, 2)), "linewidth": 1.1, "marker": "none", "zorder": 1.5}

_STYLE: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.formatter.use_mathtext": True,
    "axes.grid": True,
    "axes.labelsize": 10,
    "axes.prop_cycle": cycler(color=COLOURS),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.5,
    "errorbar.capsize": 0,
    "figure.dpi": 72,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],
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
    "svg.fonttype": "none",
    "svg.hashsalt": "hopfield",
}
_UNTOLD = ("Data has no positive values", "Attempt to set non-positive", r"Glyph \d+ .* missing from font")
"""Warnings of Matplotlib about a panel without anything to show, or a sign in a name that its fonts lack."""


@contextlib.contextmanager
def style(sheet: str | None = None) -> Iterator[None]:
    """Matplotlib's settings in the house style for the length of a block.

    Args:
        sheet: a style sheet of Matplotlib, by file or name, that is laid over it; over both lies what a person's own
            matplotlibrc sets.
    """
    import matplotlib.style  # here and below only where something is drawn: experiments import this module to run

    with matplotlib.rc_context(), warnings.catch_warnings():
        for nothing in _UNTOLD:
            warnings.filterwarnings("ignore", nothing, UserWarning)
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE | _personal_settings())
        if sheet is not None:
            path = Path(sheet).expanduser()
            is_file = sheet not in matplotlib.style.library and (sheet.endswith(".mplstyle") or path.exists())
            if is_file:
                files.read_text(path)  # whether it is a file of some length, and no pipe or device
            matplotlib.style.use(path if is_file else sheet)
        yield


class _Listener(logging.Handler):
    """Handler of the log messages in which Matplotlib reports mistakes of a style sheet."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the first line of a record."""
        self.said.append(record.getMessage().strip().splitlines()[0])


def check(look: contract.Figure) -> None:
    """Check that `figure.style` is a valid style sheet; else InputError."""
    if look.style is None:
        return
    import matplotlib.style

    _personal_settings()  # whose mistakes are told, and no reason to stop
    listener, logger = _Listener(), logging.getLogger("matplotlib")
    logger.addHandler(listener)
    try:
        with style(look.style):
            pass
        if listener.said:
            raise contract.InputError(f"figure.style must hold settings of Matplotlib, got: {listener.said[0]}")
    except contract.InputError:
        raise
    except (OSError, ValueError, TypeError, KeyError) as error:
        known = ", ".join(matplotlib.style.available[-3:])
        raise contract.InputError(
            f"figure.style must be a file FILE.mplstyle or a style of Matplotlib ({known}, ...), got {look.style}"
        ) from error
    finally:
        logger.removeHandler(listener)


@cache
def _personal_settings() -> dict[Any, Any]:
    """Settings of the user's own matplotlibrc, empty if only Matplotlib's exists."""
    import matplotlib

    path = Path(matplotlib.matplotlib_fname())
    if path.is_relative_to(matplotlib.get_data_path()):
        return {}
    settings = matplotlib.rc_params_from_file(path, use_default_template=False)
    return {name: value for name, value in settings.items() if not name.startswith("backend")}


def series(labels: Sequence[str]) -> dict[str, Any]:
    """Colour, marker and line style for each label, by its place, as keyword arguments of matplotlib.

    Up to seven labels have the colours of the style; more of them take further ones, so that none comes twice.
    """
    import matplotlib

    distinct = list(dict.fromkeys(labels))
    usual = tuple(matplotlib.rcParams["axes.prop_cycle"].by_key().get("color", COLOURS))
    colours = usual if len(distinct) <= len(usual) else (*COLOURS, *MORE)
    if len(distinct) > len(colours):
        return ordered(distinct)
    return {label: _look(place, colour) for place, (label, colour) in enumerate(zip(distinct, colours, strict=False))}


def ordered(labels: Sequence[str]) -> dict[str, Any]:
    """Styles like `series` for ordered labels, such as sizes: one colour per label, from dark to light."""
    import matplotlib
    from matplotlib.colors import to_hex

    distinct = list(dict.fromkeys(labels))
    shades = matplotlib.colormaps["viridis"](np.linspace(0.0, 0.88, len(distinct)))
    return {
        label: _look(place, to_hex(shade)) for place, (label, shade) in enumerate(zip(distinct, shades, strict=True))
    }


def _look(place: int, colour: str) -> dict[str, Any]:
    lap = place // len(MARKERS)  # from the second on, markers meet other lines
    return {"color": colour, "marker": MARKERS[place % len(MARKERS)], "linestyle": LINES[(place + lap) % len(LINES)]}

"""The command `python -m experiments.plot DIR`: draws the figure of a run again from its saved table."""

import os
import reprlib
import sys
from collections.abc import Sequence
from pathlib import Path

import yaml

from experiments.contract import InputError
from experiments.figures.style import draw
from experiments.runner import boundary, registry

USAGE = "usage: python -m experiments.plot DIR [DIR ...]   draws figure.svg, .png and .pdf again from the saved table"


def redraw(directory: Path) -> Path:
    """Draw the figure of a saved run again; its config.yaml says which experiment it is of.

    Raises:
        InputError: the directory does not hold the results of a finished run.
    """
    names = ("config.yaml", "table.csv", "summary.json")
    missing = [name for name in names if not os.path.isfile(directory / name)]  # False for a name too long, too
    if missing:
        raise InputError(f"{directory} must hold the results of a finished run, got no {' and no '.join(missing)}")
    try:
        experiment = yaml.safe_load((directory / "config.yaml").read_text(encoding="utf-8"))["experiment"]
    except (yaml.YAMLError, ValueError, TypeError, KeyError, RecursionError):
        experiment = None
    if experiment not in registry.names():
        given = reprlib.repr(experiment)
        raise InputError(
            f"{directory}/config.yaml must name its experiment ({', '.join(registry.names())}), got {given}"
        )
    try:
        return draw(directory, registry.load(str(experiment)))
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

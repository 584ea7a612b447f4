"""The command `hopfield plot DIR [DIR ...]`: draws a run again, or several of an experiment as one."""

import contextlib
import os
import re
import reprlib
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from experiments.contract import InputError
from experiments.figures import saving, style
from experiments.runner import boundary, folders, pooling, registry, results, sweeps, yaml_files
from experiments.system import terminal

USAGE = """\
usage: hopfield plot DIR [DIR ...] [output=DIR] [home=DIR] [figure.OPTION=VALUE ...]

Draws figure.svg, .png, .pdf and report.html of a run again from its saved table. Several runs of one experiment are
compared: one table with a column for every option that differs, one summary, one figure and one report, in
outputs/comparisons/<names> unless output= says where.

  home=DIR                     the folder of a user-defined experiment, whose code draws its runs
  figure.style=FILE.mplstyle   a style sheet of Matplotlib over the house style; your own matplotlibrc lies over both
  figure.width=6               inches across
  figure.format=[svg,png]      the files to draw, among svg, png, pdf
  figure.log=[x,y]             axes made logarithmic
  figure.panels=[a,d]          these panels alone, by letter or title

`experiments.plot.figure(DIR)` returns the figure itself, to change and save in Python."""


def redraw(directory: Path, words: Sequence[str] = ()) -> Path:
    """Draw the figure of a saved run again. Its config.yaml names the experiment.

    Args:
        directory: the folder of the run.
        words: options of the figure, as `figure.width=6`, instead of the run's own.

    Raises:
        InputError: the directory does not hold the results of a finished run.
    """
    record = folders.read(directory)
    if runs := sweeps.members(directory):
        return _join(runs, directory, record.command if record else "", words)
    with _drawable(directory) as experiment:
        return results.redraw(directory, experiment, results.look(directory, words))


def figure(directory: Path | str, home: Path | str | None = None) -> Figure:
    """Figure of a saved run in the house style, which may be changed, put together with others and saved.

    Args:
        directory: the folder of the run.
        home: the folder of a user-defined experiment, whose code draws it.

    Raises:
        InputError: the directory does not hold the results of a finished run.
    """
    place = Path(directory)
    with registry.including(None if home is None else Path(home).absolute()), _drawable(place) as experiment:
        look = results.look(place)
        table, summary = results.read(place, experiment)
        with style.style(look.style):
            return saving.build_figure(experiment.panels, table, summary, look)[1]


@contextlib.contextmanager
def _drawable(directory: Path) -> Iterator[Any]:
    """Experiment of the results in a directory. Faults of the results are raised as one sentence."""
    experiment = registry.load(_experiment(directory))
    with results.damage_told(str(directory)):
        yield experiment


def _experiment(directory: Path) -> str:
    """Name of the experiment whose results a directory holds."""
    names = ("config.yaml", "table.csv", "summary.json")
    missing = [name for name in names if not os.path.isfile(directory / name)]  # False for a name too long, too
    if missing:
        raise InputError(f"{directory} must hold the results of a finished run, got no {' and no '.join(missing)}")
    config = yaml_files.data(directory / "config.yaml")
    experiment = config.get("experiment") if isinstance(config, dict) else None
    if not isinstance(experiment, str):
        raise InputError(f"{directory}/config.yaml must name its experiment, got {reprlib.repr(experiment)}")
    return registry.known(experiment, directory)


def main(argv: Sequence[str] | None = None) -> int:
    """Run `hopfield plot` on the given words, by default the command line's. Returns the exit code."""
    return boundary.run_command(lambda: _redraw_all(sys.argv[1:] if argv is None else list(argv)))


def _redraw_all(words: Sequence[str]) -> int:
    if not words or set(words) & {"-h", "--help"}:
        (terminal.tell if words else terminal.say)(*USAGE.split("\n"))
        return 0 if words else 2
    homes = [word.partition("=")[2] for word in words if word.startswith("home=")]
    targets = [word.partition("=")[2] for word in words if word.startswith("output=")]
    looks = [word for word in words if re.match(r"figure\.\w+=", word)]
    if "" in (*words, *targets, *homes):
        raise InputError(f"DIR, output and home must not be empty, got {shlex.join(words)}")
    rest = [word for word in words if word not in looks and not word.startswith(("output=", "home="))]
    for word in rest:
        if re.match(r"[\w.]+=", word) and not os.path.isdir(word):
            raise InputError(f"options of plot must be output=FOLDER, home=FOLDER or figure.NAME=VALUE, got {word}")
    places = [Path(os.path.expanduser(word)) for word in rest]
    if not places:
        raise InputError(f"DIR must be the folder of a run, got {shlex.join(words)} alone")
    runs = list(dict.fromkeys(run for place in places for run in sweeps.members(place) or [place]))
    home = Path(os.path.expanduser(homes[-1])).absolute() if homes else None
    with registry.including(home):
        if len(places) == 1 and not targets:
            terminal.tell(f"figure: {redraw(places[0], looks)}")
            return 0
        target = Path(targets[-1]) if targets else _comparison_folder(runs)
        figure = _join(runs, target, f"hopfield plot {shlex.join(words)}", looks)
    terminal.tell(f"table: {target / 'table.csv'}", f"figure: {figure}", f"report: {target / 'report.html'}")
    return 0


def _join(runs: Sequence[Path], target: Path, command: str, words: Sequence[str]) -> Path:
    with results.damage_told(f"one of {', '.join(map(str, runs))}"):
        return sweeps.join(runs, target, command, results.look(runs[0], words))


def _comparison_folder(runs: Sequence[Path]) -> Path:
    """Folder of a comparison, named after the folders of its runs."""
    return Path("outputs/comparisons") / folders.as_file_name("+".join(pooling.endings(runs)).replace(os.sep, "-"))


def process() -> int:
    """Run the command line of this process, which ends with the exit code returned."""
    return boundary.run_command(lambda: _redraw_all(sys.argv[1:]), final=True)


if __name__ == "__main__":
    sys.exit(process())

"""Results of a run made from its table: figure and report, drawn as it ends and whenever it is asked for again."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from experiments import bounds, contract
from experiments.contract import Summary
from experiments.figures import report, saving, style
from experiments.figures.report import Story
from experiments.runner import boundary, folders, locks, registry, tables, yaml_files
from experiments.shared import memories
from experiments.system import files, terminal

LARGEST = 2**28
"""Bytes of a summary at most."""


@contextlib.contextmanager
def damage_told(name: str) -> Iterator[None]:
    """Context in which a fault of the results in one folder or several becomes an InputError of one sentence."""
    try:
        yield
    except (contract.InputError, contract.StoppedError):
        raise
    except OSError as error:
        raise contract.InputError(f"{name} cannot be drawn: {error}") from error
    except Exception as error:  # a figure can stumble over anything in a file that was changed by hand
        why = boundary.one_line(error)
        raise contract.InputError(f"{name} cannot be drawn: its table or summary is damaged ({why})") from error


def redraw(directory: Path, experiment: ModuleType, look: contract.Figure) -> Path:
    """Draw a finished run from its table and summary alone, whatever code its memories had; returns the figure's path.

    Raises:
        StoppedError: the folder cannot be written.
        InputError: another process is measuring there.
    """
    with locks.claimed(directory) as claim:
        if claim is None:
            raise contract.InputError(f"{directory} is being measured by another process, and is drawn when that ends")
        if folders.say_changed(directory):
            table, earlier = read(directory, experiment)
            write(directory, memories.again(experiment.summarise, table, [earlier]))
        return draw(directory, experiment, look)


def draw(directory: Path, experiment: ModuleType, look: contract.Figure) -> Path:
    """Draw figure and report of a finished run in the look asked for; returns the path of the figure."""
    table, summary = read(directory, experiment)
    panels, _ = saving.save(directory, experiment.panels, table, summary, look)
    story = _story(directory, experiment, table, summary)
    with style.style(look.style):
        report.write(directory / report.NAME, story, panels, table, summary)
    return saving.main_file(directory, look)


def write(directory: Path, summary: Summary) -> None:
    """Write summary.json and estimates.csv of a directory."""
    files.write_json(directory / "summary.json", summary.json())
    with files.replacing(directory / "estimates.csv") as temporary:
        summary.estimates.to_csv(temporary, index=False, lineterminator="\n")


def read(directory: Path, experiment: ModuleType) -> tuple[contract.Table, Summary]:
    """Table and summary of a finished run of an experiment. A summary of an older form is made again.

    Raises:
        InputError: the first line of the table does not name its columns.
    """
    table, held = _table(directory, experiment), files.read_json(directory / "summary.json", LARGEST)
    if "estimates" in held:
        return table, Summary.of_json(held)
    return table, memories.again(experiment.summarise, table, [])


def _table(directory: Path, experiment: ModuleType) -> contract.Table:
    table, record = tables.read(directory, experiment.__name__.split(".")[-2]), folders.read(directory)
    missing = [name for name in (record.columns if record is not None else ()) if name not in table]
    if missing:
        got = f"{', '.join(map(str, table.columns[:4]))} without {', '.join(missing)}"
        raise contract.InputError(f"{directory} cannot be drawn: table.csv must begin with its columns, got {got}")
    return table


def look(directory: Path, words: Sequence[str] = ()) -> contract.Figure:
    """Look of a run's figure: the look of its configuration, changed by words such as `figure.width=6`.

    A style sheet can import a package, read any file and start LaTeX, so that only a word names one.

    Raises:
        InputError: a word names no such option, or a value that it cannot have.
    """
    try:
        configured = dict(yaml_files.data(directory / "config.yaml")["figure"])
    except (OSError, ValueError, TypeError, KeyError):  # of joined results, or an older one
        configured = {}
    if configured.pop("style", None) is not None and not any(word.startswith("figure.style=") for word in words):
        terminal.say(f"the style of {directory / 'config.yaml'} is left out; figure.style=SHEET draws in one")
    if "${" in repr(configured):
        raise contract.InputError(f"figure in {directory / 'config.yaml'} must hold values, got one to be resolved")
    try:
        overrides = OmegaConf.from_dotlist([word.removeprefix("figure.") for word in words])
        figure = OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(contract.Figure), configured, overrides))
        assert isinstance(figure, contract.Figure)
        bounds.check(figure, "figure.")
    except (OmegaConfBaseException, ValueError) as error:
        reason = " ".join(str(error).split(chr(10))[0].split())
        raise contract.InputError(
            f"{' '.join(words) or 'figure'} must be options of a figure, got: {reason}"
        ) from error
    style.check(figure)
    return figure


def description(experiment: ModuleType) -> tuple[str, str]:
    """First sentence and the rest of what an experiment says about itself."""
    text = (experiment.__doc__ or "").strip()
    head, _, rest = text.partition("\n\n")
    return " ".join(head.split()), rest or text


def _story(directory: Path, experiment: ModuleType, table: contract.Table, summary: Summary) -> Story:
    record, head = folders.read(directory), _head(directory)
    lead, criteria = description(experiment)
    if record is None:
        return Story(directory.name, directory.name, lead, criteria, head[0])
    facts = [("experiment", record.experiment), ("points", _points(record)), ("versions", head[1])]
    facts.append(("hash of the science", record.science))
    differs = [(name, files.encode(value)) for name, value in record.differs.items()]
    about = registry.columns(experiment.__name__.split(".")[-2])
    frames = experiment.frames(table, summary) if hasattr(experiment, "frames") else ()
    return Story(record.conf, record.conf, lead, criteria, record.command, facts, differs, frames=frames, columns=about)


def _points(record: folders.Record) -> str:
    return str(record.points) + (f", {record.further} of them measured for earlier commands" if record.further else "")


def _head(directory: Path) -> tuple[str, str]:
    """Command and versions, from the first two lines of config.yaml."""
    lines = files.read_text(directory / "config.yaml").splitlines()[:2]
    first, second = ([line.removeprefix("# ") for line in lines if line.startswith("# ")] + ["", ""])[:2]
    return first, second

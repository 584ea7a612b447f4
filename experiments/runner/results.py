"""Results of a run made from its table: figure and report, drawn as it ends and whenever it is asked for again."""

import json
from pathlib import Path
from typing import Any

from experiments.figures import report, style
from experiments.figures.report import Story
from experiments.runner import folders
from experiments.shared import files


def draw(directory: Path, experiment: Any) -> Path:
    """Draw figure and report of a finished run; returns the path of figure.svg."""
    table = style.read_table(directory / "table.csv")
    summary = json.loads((directory / "summary.json").read_text(encoding="utf-8"))
    figure = style.draw(directory, experiment.plot, table, summary)
    story = _story(directory, experiment)
    with style.style():
        report.write(directory / report.NAME, story, figure, table, summary, experiment.X_AXIS)
    return directory / "figure.svg"


def told(experiment: Any) -> tuple[str, str]:
    """First sentence and the rest of what an experiment says about itself."""
    text = (experiment.__doc__ or "").strip()
    head, _, rest = text.partition("\n\n")
    return " ".join(head.split()), rest or text


def _story(directory: Path, experiment: Any) -> Story:
    record, head = folders.read(directory), _head(directory)
    lead, criteria = told(experiment)
    if record is None:
        return Story(directory.name, directory.name, lead, criteria, head[0])
    facts = [("experiment", record.experiment), ("points", _points(record)), ("versions", head[1])]
    facts.append(("hash of the science", record.science))
    differs = [(name, files.encode(value)) for name, value in record.differs.items()]
    frames = experiment.frames(directory) if hasattr(experiment, "frames") else ()
    return Story(record.conf, record.conf, lead, criteria, record.command, facts, differs, frames=frames)


def _points(record: folders.Record) -> str:
    return str(record.points) + (f", {record.further} of them measured for earlier commands" if record.further else "")


def _head(directory: Path) -> tuple[str, str]:
    """Command and versions, from the first two lines of config.yaml."""
    lines = (directory / "config.yaml").read_text(encoding="utf-8").splitlines()[:2]
    first, second = ([line.removeprefix("# ") for line in lines if line.startswith("# ")] + ["", ""])[:2]
    return first, second

"""Sweeps, several runs as one: their tables joined, one summary, one overlaid figure and one report.

Which runs are summarised together, and how their rows join, is stated in `pooling`.
"""

import json
import os
import reprlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import quote

from experiments.contract import Figure, InputError
from experiments.figures import report, saving, style, swept
from experiments.figures.compare import compare, has_unshared_panels
from experiments.figures.panel import Panel
from experiments.figures.report import Story
from experiments.runner import folders, locks, pooling, registry, results, tables
from experiments.runner.folders import Record
from experiments.runner.job import Job
from experiments.runner.pooling import Run
from experiments.shared import memories
from experiments.system import files

MOST = 8
"""Panels of a figure at most: those of what was swept come first."""


def members(directory: Path) -> list[Path]:
    """Folders of the runs in a folder of joined results, each once. Empty for any other folder.

    Raises:
        InputError: what it names are no folders of runs.
    """
    place = directory / folders.JOINED
    if not is_joined(directory):
        return []
    named = files.read_json(place).get("runs")
    if not isinstance(named, list) or not all(isinstance(name, str) for name in named):
        raise InputError(f"{place} must name folders of runs, got {reprlib.repr(named)}")
    found = {os.path.realpath(directory / name): Path(os.path.normpath(directory / name)) for name in named}
    if joined := [str(path) for path in found.values() if is_joined(path)]:
        raise InputError(f"{place} must name folders of single runs, got {joined[0]}, which joins others")
    return list(found.values())


def is_joined(directory: Path) -> bool:
    """Whether a folder holds joined results."""  # both are False for a name too long, too
    return os.path.exists(directory / folders.JOINED) and not os.path.exists(directory / "ledger")


def targets(jobs: Sequence[Job]) -> dict[Path, list[Path]]:
    """Joint folders of a sweep, one for each experiment with several runs, and the folders of the runs joined there.

    Raises:
        InputError: one of them is the folder of a run.
    """
    joined = {}
    kinds = list(dict.fromkeys(job.experiment for job in jobs))
    for kind in kinds:
        places = list(dict.fromkeys(job.directory for job in jobs if job.experiment == kind))
        if len(places) > 1:
            target = _place(jobs) / kind if len(kinds) > 1 else _place(jobs)
            folders.check_joined(target)
            joined[target] = places
    return joined


def join_sweep(jobs: Sequence[Job]) -> list[Path]:
    """Join the runs of a sweep. Returns the folders of the joined results."""
    joined = targets(jobs)
    looks = {job.directory: job.config.figure for job in jobs}
    for target, places in joined.items():
        join(places, target, f"hopfield -m {' '.join(_swept(jobs))}", looks[places[0]])
    return list(joined)


def join(directories: Sequence[Path], target: Path, command: str, look: Figure) -> Path:
    """Write table.csv, summary.json, figure and report of several runs of one experiment. Returns the figure's path.

    Args:
        directories: their folders.
        target: where the results go.
        command: what makes them again.
        look: that of the figure.

    Raises:
        InputError: one of them is no finished run, they are of several experiments, or `target` is a run's folder.
    """
    folders.check_joined(target)
    runs = pooling.read(directories)
    kinds = list(dict.fromkeys(run.record.experiment for run in runs))
    if len(kinds) > 1:
        raise InputError(f"runs must be of one experiment, got {' and '.join(kinds)}")
    kept: memories.Answers = {}
    for memory, answers in (entry for each in directories for entry in results.kept(each).items()):
        kept.setdefault(memory, {}).update(answers)
    experiment = registry.load(kinds[0])
    with memories.answering(kept), locks.waited_for(files.make_directory(target)):
        return _write_joined(runs, target, command, experiment, look)


def _write_joined(runs: Sequence[Run], target: Path, command: str, experiment: ModuleType, look: Figure) -> Path:
    differing = pooling.differing(runs)
    groups = pooling.groups(runs, differing)
    asked = {label: {name: pooling.value(group[0], name) for name in differing} for label, group in groups.items()}
    pooled = {label: pooling.pool(group) for label, group in groups.items()}
    summaries = {label: experiment.summarise(table) for label, table in pooled.items()}
    summary = _summary(groups, summaries, differing)
    files.make_directory(target)
    table = pooling.table(runs, differing)
    tables.write(target, table)
    files.write_json(target / "summary.json", summary)
    strict = json.loads((target / "summary.json").read_text(encoding="utf-8"))
    numbers = [(asked[label], summaries[label].get("scalars", {})) for label in groups]

    def panels(*_: Any) -> list[Panel]:
        if len(groups) == 1:
            return experiment.panels(*(style.literal(each) for each in (*pooled.values(), strict)))
        shown = _panels(experiment, pooled)
        if len(runs) > len(groups) and has_unshared_panels(shown):  # what is pooled has panels of its own
            parts: dict[str, list[Run]] = {}
            for run in runs:
                parts.setdefault(pooling.label(run, differing), []).append(run)
            shown = _panels(
                experiment, {label: pooling.pool(part) for label, part in pooling.with_short_labels(parts).items()}
            )
        found = swept.panels(numbers)
        return [*found, *compare(shown)][: MOST if found else None]

    drawn, _ = saving.save(target, panels, table, strict, look)
    links = [os.path.relpath(run.directory, target) for run in runs]
    files.write_json(target / folders.JOINED, {"command": command, "runs": links})
    record = _record(runs, command, differing, len(table))
    record.write(target)
    with style.style(look.style):
        story = _story(runs, links, record, differing, results.description(experiment))
        report.write(target / report.NAME, story, drawn, table, strict, experiment.X_AXIS)
    return saving.main_file(target, look)


def _panels(experiment: ModuleType, pooled: Mapping[str, Any]) -> dict[str, Any]:
    """The panels of every table, by its label."""
    shown = {}
    for label, rows in pooled.items():
        summary = json.loads(files.encode(experiment.summarise(rows)), parse_constant=lambda name: None)
        shown[style.literal(label)] = experiment.panels(style.literal(rows), style.literal(summary))
    return shown


def _summary(groups: Mapping[str, Sequence[Run]], summaries: Mapping[str, dict], differing: Sequence[str]) -> dict:
    """Summary of the only group, or the summaries of all groups beside the options in which they differ."""
    if len(groups) == 1:
        return next(iter(summaries.values()))
    entries = [
        {
            "label": label,
            "options": {name: pooling.value(group[0], name) for name in differing},
            "summary": summaries[label],
        }
        for label, group in groups.items()
    ]
    scalars = {
        f"{label}/{name}": value
        for label, summary in summaries.items()
        for name, value in summary.get("scalars", {}).items()
    }
    notes = dict.fromkeys(
        f"{label}: {note}" for label, summary in summaries.items() for note in summary.get("notes", [])
    )
    return {"groups": entries, "notes": list(notes), "scalars": scalars}


def _record(runs: Sequence[Run], command: str, differing: Sequence[str], points: int) -> Record:
    first = runs[0].record
    return first._replace(
        conf="+".join(dict.fromkeys(run.record.conf for run in runs)),
        command=command,
        differs={name: list(dict.fromkeys(pooling.value(run, name) for run in runs)) for name in differing},
        science=files.fingerprint(sorted({run.record.science for run in runs}))[:16],
        collects=False,
        points=points,
        further=0,
    )


def _story(
    runs: Sequence[Run], links: Sequence[str], record: Record, differing: Sequence[str], texts: tuple[str, str]
) -> Story:
    rows = [
        {
            "name": link,
            "link": quote(f"{link}/{report.NAME}"),
            "cells": [folders.words(pooling.value(run, name)) for name in differing] + [str(run.record.points)],
        }
        for run, link in zip(runs, links, strict=True)
    ]
    facts = [("experiment", record.experiment), ("points", str(record.points)), ("hash of the science", record.science)]
    title = f"{record.conf}: {len(runs)} runs"
    about = registry.columns(record.experiment)
    heads = [*differing, "points"]
    return Story(record.conf, title, *texts, record.command, facts, run_columns=heads, runs=rows, columns=about)


def _place(jobs: Sequence[Job]) -> Path:
    """Folder of a sweep: the parent of its runs' folders if they were given, else a folder named by the swept words."""
    parents = {job.directory.parent for job in jobs}
    if all(job.config.output is not None and job.label for job in jobs) and len(parents) == 1:
        return parents.pop()
    confs = "+".join(dict.fromkeys(job.conf for job in jobs))
    swept = [word for word in _swept(jobs) if "," in word and not word.startswith(("output=", "hydra"))]
    return folders.default_folder(confs, "sweeps") / (folders.as_file_name("+".join(swept)) or folders.DEFAULT)


def _swept(jobs: Sequence[Job]) -> list[str]:
    """The words of a sweep again: every option with all its values."""
    values: dict[str, dict[str, None]] = {}
    for job in jobs:
        for word in job.words:
            key, _, value = word.partition("=")
            values.setdefault(key, {})[value] = None
    return [f"{key}={','.join(choices)}" for key, choices in values.items()]

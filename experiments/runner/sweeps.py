"""Sweeps, several runs as one: their tables joined, one summary, one overlaid figure and one report.

Which runs are summarised together, and how their rows join, is stated in `pooling`.
"""

import os
import reprlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import quote

import pandas

from experiments.contract import Figure, InputError, Summary, Table, records
from experiments.figures import labels, report, saving, style, swept
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
"""Panels of a figure at most: panels of what was swept come first."""


def members(directory: Path) -> list[Path]:
    """Folders of the runs in a folder of joined results, each once. Empty for any other folder.

    Raises:
        InputError: what it names are no folders of runs.
    """
    place = directory / folders.JOINED
    if not folders.is_joined(directory):
        return []
    named = files.read_json(place).get("runs")
    if not isinstance(named, list) or not all(isinstance(name, str) for name in named):
        raise InputError(f"{place} must name folders of runs, got {reprlib.repr(named)}")
    found = {os.path.realpath(directory / name): Path(os.path.normpath(directory / name)) for name in named}
    if joined := [str(path) for path in found.values() if folders.is_joined(path)]:
        raise InputError(f"{place} must name folders of single runs, got {joined[0]}, which joins others")
    return list(found.values())


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
        join(places, target, f"hopfield -m {' '.join(_swept(jobs))}", looks[places[0]], asks=True)
    return list(joined)


def join(directories: Sequence[Path], target: Path, command: str, look: Figure, *, asks: bool = False) -> Path:
    """Write table.csv, summary.json, figure and report of several runs of one experiment. Returns the figure's path.

    Args:
        directories: their folders.
        target: where the results go.
        command: what makes them again.
        look: the figure's look.
        asks: whether memories from outside the package may be asked, whose code was run to measure them.

    Raises:
        InputError: one of them is no finished run, they are of several experiments, or `target` is a run's folder.
    """
    folders.check_joined(target)
    joined = Joined(directories, asks=asks)
    with locks.waited_for(files.make_directory(target)):
        return _write_joined(joined, target, command, look)


class Joined:
    """Finished runs of one experiment as one.

    Attributes:
        experiment: the module that reads and draws them.
        runs: each run.
        differing: options in which they differ.
        table: the rows of all, below a column for every option that differs.
        summary: the summary of all, samples of different seeds as one.

    Raises:
        InputError: a folder holds no finished run, or they are of several experiments.
    """

    def __init__(self, directories: Sequence[Path], *, asks: bool = False) -> None:
        self.runs, self._asks = pooling.read(directories), asks
        kinds = list(dict.fromkeys(run.record.experiment for run in self.runs))
        if len(kinds) > 1:
            raise InputError(f"runs must be of one experiment, got {' and '.join(kinds)}")
        self.experiment = registry.load(kinds[0])
        self.differing = pooling.differing(self.runs)
        self.table = pooling.table(self.runs, self.differing)
        self._single = {run.directory: results.read(run.directory, self.experiment)[1] for run in self.runs}
        self._groups = pooling.groups(self.runs, self.differing)
        self._summaries = {label: self._summarised(group) for label, group in self._groups.items()}
        self.summary = _summary(self._groups, self._summaries, self.differing)

    def curves(self) -> Table:
        """Shares of queries of all, samples of different seeds as one."""
        parts = []
        for group in self._groups.values():
            part = self.experiment.shares(pooling.pool(group))
            options = pooling.shared(group, self.differing)
            parts.append(part.assign(**{name: options[name] for name in options if name not in part}))
        return pandas.concat(parts, ignore_index=True)

    def panels(self, *_: Any) -> list[Panel]:
        """Panels of the figure of all."""
        if len(self._groups) == 1:
            return self.experiment.panels(pooling.pool(*self._groups.values()), self.summary)
        shown = _panels(self.experiment, self._groups, self._summaries)
        if len(self.runs) > len(self._groups) and has_unshared_panels(shown):  # what is pooled has panels of its own
            parts: dict[str, list[Run]] = {}
            for run in self.runs:
                parts.setdefault(pooling.label(run, self.differing), []).append(run)
            parts = pooling.with_short_labels(parts)
            shown = _panels(self.experiment, parts, {label: self._summarised(part) for label, part in parts.items()})
        estimates = self.summary.estimates
        found = swept.panels(estimates, [name for name in self.differing if name in estimates])
        return [*found, *compare(shown)][: MOST if found else None]

    def _summarised(self, group: Sequence[Run]) -> Summary:
        """Summary of a group of runs: its only run's, or one of the samples of all."""
        if len(group) == 1:
            return self._single[group[0].directory]
        summarise, singles = self.experiment.summarise, [self._single[run.directory] for run in group]
        table = pooling.pool(group)
        return summarise(table) if self._asks else memories.again(summarise, table, singles)


def _write_joined(joined: Joined, target: Path, command: str, look: Figure) -> Path:
    files.make_directory(target)
    tables.write(target, joined.table)
    results.write(target, joined.summary)
    drawn, _ = saving.save(target, joined.panels, joined.table, joined.summary, look)
    links = [os.path.relpath(run.directory, target) for run in joined.runs]
    files.write_json(target / folders.JOINED, {"command": command, "runs": links})
    record = _record(joined.runs, command, joined.differing, len(joined.table))
    record.write(target)
    with style.style(look.style):
        story = _story(joined.runs, links, record, joined.differing, results.description(joined.experiment))
        report.write(target / report.NAME, story, drawn, joined.table, joined.summary)
    return saving.main_file(target, look)


def _panels(
    experiment: ModuleType, groups: Mapping[str, Sequence[Run]], summaries: Mapping[str, Summary]
) -> dict[str, Any]:
    """The panels of every group, by its label."""
    return {
        labels.literal(label): experiment.panels(pooling.pool(group), summaries[label])
        for label, group in groups.items()
    }


def _summary(
    groups: Mapping[str, Sequence[Run]], summaries: Mapping[str, Summary], differing: Sequence[str]
) -> Summary:
    """Summary of the only group, or the estimates of all groups with a column for each option in which they differ."""
    if len(groups) == 1:
        return next(iter(summaries.values()))
    estimates, lines, parts, notes = [], [], [], {}
    for label, group in groups.items():
        options, found = pooling.shared(group, differing), summaries[label]
        estimates += [
            row | {key: options[key] for key in options if key not in row} for row in records(found.estimates)
        ]
        lines += [options | row for row in records(found.lines)]
        more = {name: value for name, value in found.more.items() if name != memories.MEMORIES}
        parts.append({"label": label, "options": options, **more})
        notes |= dict.fromkeys(f"{label}: {note}" for note in found.notes)
    return Summary(estimates, lines, list(notes), {"groups": parts})


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
        for word in job.asked or job.words:
            key, _, value = word.partition("=")
            values.setdefault(key, {})[value] = None
    return [f"{key}={','.join(choices)}" for key, choices in values.items()]

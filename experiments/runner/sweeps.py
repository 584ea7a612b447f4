"""Sweeps, several runs as one: their tables joined, one summary, one overlaid figure and one report.

Rows that are the same measurement stand once. Runs that differ in nothing but their seed are samples of one thing, and
are summarised together; samples of different seeds are never taken for one. Every other option that differs tells
groups apart, each with a summary of its own.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas

from experiments.contract import InputError
from experiments.figures import overlay, report, style
from experiments.figures.report import Story
from experiments.figures.style import Table
from experiments.runner import folders, registry, results
from experiments.runner.compose import Job
from experiments.runner.folders import Record
from experiments.runner.series import DRAWS
from experiments.shared import files

JOINED = "joined.json"
"""File of a folder of joined results that names the runs they are of, relative to it."""


@dataclass(frozen=True)
class Run:
    """A finished run: its folder, what was asked, and its table."""

    directory: Path
    record: Record
    table: Table


def read(directory: Path) -> Run:
    """A finished run in a folder.

    Raises:
        InputError: there is none.
    """
    record = folders.read(directory)
    if record is None or not record.complete or not (directory / "table.csv").is_file():
        raise InputError(f"{directory} must hold the results of a finished run, got none")
    return Run(directory, record, style.read_table(directory / "table.csv"))


def members(directory: Path) -> list[Path]:
    """The folders of the runs that a folder of joined results is of; empty where it is none."""
    try:
        named = json.loads((directory / JOINED).read_text(encoding="utf-8"))["runs"]
    except (OSError, ValueError, TypeError, KeyError):
        return []
    return [Path(os.path.normpath(directory / str(name))) for name in named]


def finished(jobs: Sequence[Job]) -> list[Path]:
    """Join the runs of a sweep, those of each experiment in a folder; returns these folders."""
    found = []
    kinds = list(dict.fromkeys(job.experiment for job in jobs))
    for kind in kinds:
        mine = [job for job in jobs if job.experiment == kind]
        places = list(dict.fromkeys(job.directory for job in mine))
        if len(places) > 1:
            target = _place(jobs) / kind if len(kinds) > 1 else _place(jobs)
            join(places, target, f"python -m experiments.run -m {' '.join(_swept(jobs))}")
            found.append(target)
    return found


def join(directories: Sequence[Path], target: Path, command: str) -> Path:
    """Write table.csv, summary.json, figure and report of several runs of one experiment; returns figure.svg.

    Args:
        directories: their folders.
        target: where the results go.
        command: what makes them again.

    Raises:
        InputError: one of them is no finished run, or they are of several experiments.
    """
    runs = [read(directory) for directory in directories]
    kinds = list(dict.fromkeys(run.record.experiment for run in runs))
    if len(kinds) > 1:
        raise InputError(f"runs must be of one experiment, got {' and '.join(kinds)}")
    with registry.outside(Path(home) if (home := runs[0].record.home) else None):
        return _joined(runs, target, command, registry.load(kinds[0]))


def _joined(runs: Sequence[Run], target: Path, command: str, experiment: Any) -> Path:
    differing = _differing(runs)
    groups = _groups(runs, differing)
    tables = {label: _pooled(group) for label, group in groups.items()}
    summaries = {label: experiment.summarise(table) for label, table in tables.items()}
    summary = _summary(groups, summaries, differing)
    files.made(target)
    table = _table(runs, differing)
    with files.replacing(target / "table.csv") as temporary:
        table.to_csv(temporary, index=False, lineterminator="\n")
    files.write_json(target / "summary.json", summary)
    strict = json.loads((target / "summary.json").read_text(encoding="utf-8"))

    def plot(*_: Any) -> Any:
        if len(groups) == 1:
            return experiment.plot(*(style.literal(each) for each in (*tables.values(), strict)))
        drawn = (each["summary"] for each in strict["groups"])
        figures = {
            style.literal(label): experiment.plot(style.literal(rows), style.literal(each))
            for (label, rows), each in zip(tables.items(), drawn, strict=True)
        }
        return overlay.plot(figures)

    figure = style.draw(target, plot, table, strict)
    links = [os.path.relpath(run.directory, target) for run in runs]
    files.write_json(target / JOINED, {"command": command, "runs": links})
    record = _record(runs, command, differing, len(table))
    record.write(target)
    with style.style():
        story = _story(runs, links, record, differing, results.told(experiment))
        report.write(target / report.NAME, story, figure, table, strict, experiment.X_AXIS)
    return target / "figure.svg"


def _differing(runs: Sequence[Run]) -> list[str]:
    """Options that runs differ in, but for those that only add points."""
    names = dict.fromkeys(name for run in runs for name in run.record.asked)
    found = [name for name in names if len({files.encode(run.record.asked.get(name)) for run in runs}) > 1]
    return (["conf"] if not found and len({run.record.conf for run in runs}) > 1 else []) + found


def _value(run: Run, option: str) -> Any:
    value = run.record.conf if option == "conf" else run.record.asked.get(option)
    return folders.words(value) if isinstance(value, list | dict) else value


def _groups(runs: Sequence[Run], differing: Sequence[str]) -> dict[str, list[Run]]:
    """Runs that are summarised together, by what tells them from the others.

    Lists of memories, starts and such are no reason to part runs: each of their entries is a column of the table.
    """
    pool = any(name in runs[0].record.columns for name in DRAWS)
    apart = [name for name in differing if name != "seed" or not pool]
    single = [name for name in apart if not any(isinstance(run.record.asked.get(name), list) for run in runs)]
    keys = [
        (run.record.pooled if pool else run.record.rows, *(files.encode(_value(run, n)) for n in single))
        for run in runs
    ]
    if len(set(keys)) == 1:
        return {"": list(runs)}
    told = single if len({key[1:] for key in keys}) == len(set(keys)) else apart
    labels = {}
    for key, run in zip(keys, runs, strict=True):
        label = ", ".join(f"{name}={folders.words(_value(run, name))}" for name in told)
        taken = label in labels.values() and key not in labels
        labels.setdefault(key, run.directory.name if taken or not label else label)
    return {label: [run for run, key in zip(runs, keys, strict=True) if key == one] for one, label in labels.items()}


def _pooled(runs: Sequence[Run]) -> Table:
    """The rows of runs of one group, each measurement once, with draws of different seeds numbered apart."""
    parts = [run.table.assign(_rows=run.record.rows) for run in runs]
    table: Table = pandas.concat(parts, ignore_index=True)
    columns = [name for name in runs[0].record.columns if name in table]
    table = table.drop_duplicates(["_rows", *columns], ignore_index=True)
    for name in DRAWS:
        if name in columns and table["_rows"].nunique() > 1:
            table[name] = table.groupby(["_rows", name], sort=False).ngroup()
    return table.drop(columns="_rows")


def _table(runs: Sequence[Run], differing: Sequence[str]) -> Table:
    """All rows, each measurement once, below a column for every option that differs."""
    parts = []
    for run in runs:
        added = {name: _value(run, name) for name in differing if name not in run.table}
        options = pandas.DataFrame([added] * len(run.table), index=run.table.index)
        parts.append(pandas.concat([options, run.table], axis=1).assign(_rows=run.record.rows))
    table: Table = pandas.concat(parts, ignore_index=True)
    apart = [
        name
        for name in differing
        if name in table and not any(isinstance(r.record.asked.get(name), list) for r in runs)
    ]
    keys = ["_rows", *apart, *(name for name in runs[0].record.columns if name in table)]
    return table.drop_duplicates(list(dict.fromkeys(keys)), ignore_index=True).drop(columns="_rows")


def _summary(groups: Mapping[str, Sequence[Run]], summaries: Mapping[str, dict], differing: Sequence[str]) -> dict:
    """The summary of the only group, or those of all beside their options."""
    if len(groups) == 1:
        return next(iter(summaries.values()))
    entries = [
        {"label": label, "options": {name: _value(group[0], name) for name in differing}, "summary": summaries[label]}
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
        differs={name: list(dict.fromkeys(_value(run, name) for run in runs)) for name in differing},
        science=files.fingerprint(sorted({run.record.science for run in runs}))[:16],
        collects=False,
        points=points,
        further=0,
    )


def _story(
    runs: Sequence[Run], links: Sequence[str], record: Record, differing: Sequence[str], told: tuple[str, str]
) -> Story:
    rows = [
        {
            "name": link,
            "link": quote(f"{link}/{report.NAME}"),
            "cells": [folders.words(_value(run, name)) for name in differing] + [str(run.record.points)],
        }
        for run, link in zip(runs, links, strict=True)
    ]
    facts = [("experiment", record.experiment), ("points", str(record.points)), ("hash of the science", record.science)]
    title = f"{record.conf}: {len(runs)} runs"
    return Story(record.conf, title, *told, record.command, facts, run_columns=[*differing, "points"], runs=rows)


def _place(jobs: Sequence[Job]) -> Path:
    """The folder of a sweep: the one that holds its runs where it was given, else one named by what was swept."""
    parents = {job.directory.parent for job in jobs}
    if all(job.config.output is not None and job.label for job in jobs) and len(parents) == 1:
        return parents.pop()
    confs = "+".join(dict.fromkeys(job.conf for job in jobs))
    swept = [word for word in _swept(jobs) if "," in word and not word.startswith(("output=", "hydra"))]
    return folders.placed(confs, "sweeps") / (folders.fit("+".join(swept)) or folders.DEFAULT)


def _swept(jobs: Sequence[Job]) -> list[str]:
    """The words of a sweep again: every option with all its values."""
    values: dict[str, dict[str, None]] = {}
    for job in jobs:
        for word in job.words:
            key, _, value = word.partition("=")
            values.setdefault(key, {})[value] = None
    return [f"{key}={','.join(found)}" for key, found in values.items()]

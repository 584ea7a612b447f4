"""Finished runs side by side: what they differ in, which are samples of one thing, and their rows as one table.

Rows that are the same measurement stand once. Runs that differ in nothing but their seed are samples of one thing, and
are summarised together; samples of different seeds are never taken for one. Every other option that differs tells
groups apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas

from experiments.contract import InputError
from experiments.figures.style import Table
from experiments.runner import folders
from experiments.runner.folders import Record
from experiments.runner.series import DRAWS
from experiments.shared import files


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
    folders.say_changed(directory)
    return Run(directory, record, pandas.read_csv(directory / "table.csv"))


def differing(runs: Sequence[Run]) -> list[str]:
    """Options that runs differ in, but for those that only add points."""
    names = dict.fromkeys(name for run in runs for name in run.record.asked)
    found = [name for name in names if len({files.encode(run.record.asked.get(name)) for run in runs}) > 1]
    return (["conf"] if not found and len({run.record.conf for run in runs}) > 1 else []) + found


def value(run: Run, option: str) -> Any:
    """Value that was asked of a run for an option, in words where it is a list or a mapping."""
    value = run.record.conf if option == "conf" else run.record.asked.get(option)
    return folders.words(value) if isinstance(value, list | dict) else value


def groups(runs: Sequence[Run], differing: Sequence[str]) -> dict[str, list[Run]]:
    """Runs that are summarised together, by what tells them from the others.

    Lists of memories, starts and such are no reason to part runs: each of their entries is a column of the table.
    """
    pool = any(name in runs[0].record.columns for name in DRAWS)
    apart = [name for name in differing if name != "seed" or not pool]
    single = [name for name in apart if not any(isinstance(run.record.asked.get(name), list) for run in runs)]
    keys = [
        (run.record.pooled if pool else run.record.rows, *(files.encode(value(run, n)) for n in single)) for run in runs
    ]
    if len(set(keys)) == 1:
        return {"": list(runs)}
    told = single if len({key[1:] for key in keys}) == len(set(keys)) else apart
    labels = {}
    for key, run in zip(keys, runs, strict=True):
        label = ", ".join(f"{name}={folders.words(value(run, name))}" for name in told)
        taken = label in labels.values() and key not in labels
        labels.setdefault(key, run.directory.name if taken or not label else label)
    return {label: [run for run, key in zip(runs, keys, strict=True) if key == one] for one, label in labels.items()}


def pooled(runs: Sequence[Run]) -> Table:
    """The rows of runs of one group, each measurement once, with draws of different seeds numbered apart."""
    parts = [run.table.assign(_rows=run.record.rows) for run in runs]
    table: Table = pandas.concat(parts, ignore_index=True)
    columns = [name for name in runs[0].record.columns if name in table]
    table = table.drop_duplicates(["_rows", *columns], ignore_index=True)
    for name in DRAWS:
        if name in columns and table["_rows"].nunique() > 1:
            table[name] = table.groupby(["_rows", name], sort=False).ngroup()
    return table.drop(columns="_rows")


def table(runs: Sequence[Run], differing: Sequence[str]) -> Table:
    """All rows, each measurement once, below a column for every option that differs."""
    parts = []
    for run in runs:
        added = {name: value(run, name) for name in differing if name not in run.table}
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

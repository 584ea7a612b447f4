"""Finished runs side by side: options in which they differ, which of them pool their samples, and their joint table.

Rows that are the same measurement stand once. Runs that differ in nothing but their seed are samples of one thing, and
are summarised together: sample 0 of seed 0 and sample 0 of seed 1 are two samples. Every other option that differs
tells groups apart. If no option differs, as for files of one name that hold different patterns, the folders do.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import pandas

from experiments.contract import InputError, Table
from experiments.runner import folders, registry, tables
from experiments.runner.folders import Record
from experiments.runner.series import DRAWS
from experiments.system import files, terminal

FOLDER = "folder"
"""Name that stands for an option where runs without different options are distinguished by their folders."""

LONGEST = 100
"""Letters of a label at most."""


@dataclass(frozen=True)
class Run:
    """A finished run: its folder, the end of its path that no other has, what was asked, and its table."""

    directory: Path
    name: str
    record: Record
    table: Table

    @property
    def pooled(self) -> str:
        """Hash that is equal for runs whose samples can be pooled."""
        return self.record.pooled if self.draws else self.record.rows

    @property
    def draws(self) -> bool:
        """True if the table numbers the draws of its seed, so that draws of other seeds are further samples."""
        return any(name in self.record.columns for name in DRAWS)


def read(directories: Sequence[Path]) -> list[Run]:
    """The finished runs in folders.

    Raises:
        InputError: one of them holds none.
    """
    return [_read(directory, name) for directory, name in zip(directories, endings(directories), strict=True)]


def _read(directory: Path, name: str) -> Run:
    record = folders.read(directory)
    if record is None or not record.complete or not (directory / "table.csv").is_file():
        raise InputError(f"{directory} must hold the results of a finished run, got none")
    folders.say_changed(directory)
    return Run(directory, name, record, tables.read(directory, registry.known(record.experiment, directory)))


def endings(directories: Sequence[Path]) -> list[str]:
    """Shortest ending of each folder's path that no other folder's path has."""
    ends = []
    paths = [os.path.abspath(directory) for directory in directories]
    for path in paths:
        others = [f"{os.sep}{other}" for other in paths if other != path]
        tails = accumulate(reversed(path.split(os.sep)), lambda tail, part: f"{part}{os.sep}{tail}")
        alone = (tail for tail in tails if not any(other.endswith(os.sep + tail) for other in others))
        ends.append(next(alone, path))
    return ends


def differing(runs: Sequence[Run]) -> list[str]:
    """Options in which runs differ, without options that only add points. FOLDER is added if labels still coincide."""
    names = dict.fromkeys(name for run in runs for name in run.record.asked)
    options = [name for name in names if len({files.encode(run.record.asked.get(name)) for run in runs}) > 1]
    if not options and len({run.record.conf for run in runs}) > 1:
        options = ["conf"]
    labels = {(run.pooled, label(run, _dividing_options(runs, options))) for run in runs}
    return options + ([FOLDER] if len({words for _, words in labels}) < len(labels) else [])


def value(run: Run, option: str) -> Any:
    """Value that was asked of a run for an option, in words if it is a list or a mapping."""
    special = {"conf": run.record.conf, FOLDER: run.name}
    value = special.get(option, run.record.asked.get(option))
    return folders.words(value) if isinstance(value, list | dict) else value


def shared(group: Sequence[Run], names: Sequence[str]) -> dict[str, Any]:
    """Values of options that all runs of a group were asked for: what is pooled over seeds has no seed."""
    values = {name: list(dict.fromkeys(value(run, name) for run in group)) for name in names}
    return {name: found[0] for name, found in values.items() if len(found) == 1}


def label(run: Run, options: Sequence[str]) -> str:
    """Options of a run in words."""
    return ", ".join(f"{name}={folders.words(value(run, name))}" for name in options)


def groups(runs: Sequence[Run], differing: Sequence[str]) -> dict[str, list[Run]]:
    """Groups of runs to summarise together, keyed by the options that differ between groups.

    Lists of memories, starts and such are no reason to part runs: each of their entries is a column of the table. Nor
    is a folder.
    """
    apart = _dividing_options(runs, differing)
    single = [name for name in apart if name != FOLDER and not _is_list(runs, name)]
    by_label: dict[tuple, list[Run]] = {}
    for run in runs:
        by_label.setdefault((run.pooled, label(run, single)), []).append(run)
    if len(by_label) == 1:
        return {"": list(runs)}
    naming = single if len({words for _, words in by_label}) == len(by_label) else apart
    return with_short_labels({label(members[0], naming): members for members in by_label.values()})


def with_short_labels(labelled: dict[str, list[Run]]) -> dict[str, list[Run]]:
    """Groups with labels that fit a legend. Labels too long are replaced by the conf or folder."""
    if max(map(len, labelled)) <= LONGEST:
        return labelled
    confs = {members[0].record.conf for members in labelled.values()}
    naming = ["conf" if len(confs) == len(labelled) else FOLDER]
    return {label(members[0], naming): members for members in labelled.values()}


def _dividing_options(runs: Sequence[Run], differing: Sequence[str]) -> list[str]:
    """Options that separate runs. The seed does not, if the table numbers the draws: these pool as samples."""
    return [name for name in differing if name != "seed" or not runs[0].draws]


def _is_list(runs: Sequence[Run], option: str) -> bool:
    return any(isinstance(run.record.asked.get(option), list) for run in runs)


def pool(runs: Sequence[Run]) -> Table:
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
    """Rows of all runs, each measurement once, below a column for every option that differs."""
    parts = []
    for run in runs:
        added = {name: value(run, name) for name in differing if name not in run.table}
        options = pandas.DataFrame([added] * len(run.table), index=run.table.index)
        parts.append(pandas.concat([options, run.table], axis=1).assign(_rows=run.record.rows))
    table: Table = pandas.concat(parts, ignore_index=True)
    apart = [name for name in differing if name in table and name != FOLDER and not _is_list(runs, name)]
    keys = ["_rows", *apart, *(name for name in runs[0].record.columns if name in table)]
    once = table.drop_duplicates(list(dict.fromkeys(keys)), ignore_index=True)
    others = len(table.drop_duplicates(list(dict.fromkeys([*keys, *runs[0].table])))) - len(once)
    if others:
        terminal.say(
            f"warning: {others} rows are left out, whose points have other numbers in a run that is named before"
        )
    return once.drop(columns="_rows")

"""Plan of a run: everything about a job that can be checked before it begins."""

import dataclasses
import errno
import os
import stat
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import jax

from experiments import columns, contract
from experiments.contract import InputError, Point
from experiments.figures import style
from experiments.runner import budget, errors, folders, mirror, registry
from experiments.runner.job import Job
from experiments.runner.ledger import Ledger
from experiments.shared import axes, hardware
from experiments.shared.notes import noted
from experiments.system import files, provenance


@dataclass(frozen=True)
class Plan:
    """A job that is known to be possible.

    Attributes:
        job: what was asked for.
        experiment: the module that measures it.
        points: every point of its table; grows where the experiment refines.
        ledger: what is measured already.
        mode: W&B's mode.
        notes: lines on what was asked for and is not measured as such, to be said when it is measured.
        unsure: lines on what rows depend on and cannot be compared with those that are measured already.
        science: hashes of what its numbers depend on.
    """

    job: Job
    experiment: ModuleType
    points: list[Point]
    ledger: Ledger
    mode: mirror.Target
    notes: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()
    science: provenance.Hashes = provenance.NO_HASHES

    def table(self) -> list[Point]:
        """Points of the table: the points asked for and, if the directory collects points, earlier commands' points."""
        return [*self.points, *(self.ledger.further(self.points) if self.job.collects else ())]

    def whole(self) -> "Plan":
        """The plan of the run that this one is a shard of."""
        config = dataclasses.replace(self.job.config, shard=None)
        return dataclasses.replace(self, job=dataclasses.replace(self.job, config=config))

    def share(self, points: Sequence[Point]) -> list[Point]:
        """Points or pieces that belong to this shard: by their hash, each curve of learning or in time as a whole."""
        if self.job.config.shard is None:
            return list(points)
        number, of = map(int, self.job.config.shard.split("/"))
        along = ("epoch", "step", self.experiment.X_AXIS)
        work = [{name: value for name, value in point.items() if name not in along} for point in points]
        return [p for p, each in zip(points, work, strict=True) if int(files.fingerprint(each), 16) % of == number - 1]

    def hardware(self, missing: int) -> hardware.Hardware:
        """Hardware for a number of missing points, by the options and their share of the cost."""
        cost = getattr(self.experiment, "cost", None)
        work = float("inf") if cost is None else cost(self.job.config).operations
        return hardware.choose(self.job.config, work, missing / len(self.points))

    def record(self, *, complete: bool) -> folders.Record:
        """Record of the run, kept in its folder for lists of runs."""
        job, points = self.job, self.table()
        return folders.Record(
            conf=job.conf,
            experiment=job.experiment,
            command=job.command,
            differs=folders.differing(job.config, job.usual),
            science=self.science.whole,
            asked=folders.leaves(job.config, extending=False),
            columns=list(points[0]),
            rows=self.science.rows,
            pooled=self.science.pooled,
            collects=job.collects,
            points=len(points),
            home=registry.home(job.experiment),
            further=len(points) - len(self.points),
            complete=complete,
        )


def plan(job: Job) -> Plan:
    """Plan of a job, after all checks that can be made before it begins; nothing is measured, nothing left behind.

    Raises:
        InputError: the job cannot be run.
    """
    experiment = registry.load(job.experiment)
    hardware.choose(job.config)
    mode = mirror.resolve(job.config.wandb)
    cost = getattr(experiment, "cost", None)
    if cost is not None:
        budget.check(job.config, job.conf, cost)
    try:
        if provenance.changed(job.config):
            forget()
        with noted() as notes:
            points = experiment.points(job.config)
        unsure: list[str] = []
        science = provenance.science(experiment, job.config, points, unsure)
    except ValueError as error:
        text = errors.own_name(" ".join(str(error).split()), files.options(job.config))
        raise InputError(text) from error
    if not points:
        raise InputError(f"conf={job.conf} must leave at least one point to measure, got none")
    check_names(job.conf, points)
    once = list({files.fingerprint(point): point for point in points}.values())
    if len(once) < len(points):
        notes[f"{len(points) - len(once)} of {len(points)} points are like others, and are measured once"] = None
    if (declared := registry.columns(job.experiment)) is not None:
        columns.check(declared, points[0])
        if experiment.X_AXIS not in declared:
            raise InputError(f"X_AXIS must be a column of the table, got {experiment.X_AXIS}")
    if not job.config.dry:
        _check_output(job.directory)
    style.check(job.config.figure)
    ledger = Ledger(job.directory / "ledger", job.experiment, science)
    made = Plan(job, experiment, once, ledger, mode, tuple(notes), tuple(f"note: {sentence}" for sentence in unsure))
    made = dataclasses.replace(made, science=provenance.hashes(job.experiment, science, folders.leaves(job.config)))
    check_science(made)
    return made


def forget() -> None:
    """Forget what was compiled or kept by the name of code that has changed."""
    jax.clear_caches()
    for module in [module for name, module in sys.modules.items() if name.startswith("experiments.")]:
        for value in vars(module).values():
            if callable(clear := getattr(value, "cache_clear", None)):
                clear()


def check_names(conf: str, points: Sequence[Point]) -> None:
    """Check that all points have the same names, as rows are recognised by the first's; else InputError."""
    if names := axes.differing(points):
        raise InputError(f"points of conf={conf} must all have the same names, got {', '.join(names)} in some of them")


def forecast(plan: Plan) -> str:
    """Expected cost of a plan in one line: points, memory and time."""
    cost = getattr(plan.experiment, "cost", lambda config: contract.Cost(len(plan.points)))(plan.job.config)
    measured = (
        len(plan.points) - len(plan.ledger.missing(plan.points)) if (plan.job.directory / "ledger").exists() else 0
    )
    refines = getattr(plan.experiment, "refines", lambda config: hasattr(plan.experiment, "refine"))
    return budget.sentence(plan.job.label or plan.job.conf, len(plan.points), measured, cost, refines(plan.job.config))


def check_science(plan: Plan) -> None:
    """Check that the directory holds no results of other science, or that they may be set aside; else InputError."""
    if plan.job.collects and not plan.job.config.overwrite:
        folders.check(plan.job.directory, folders.leaves(plan.job.config, extending=False))
    for name, held, asked in plan.ledger.foreign().values():
        if not plan.job.config.overwrite:
            raise InputError(
                f"{name} must be {held} as in the results that {plan.job.directory} holds, got {asked}; "
                "give another output, or overwrite=true to set them aside"
            )


def _check_output(directory: Path) -> None:
    """Check that results can be written; else InputError. Nothing is made, which other processes might trip over."""
    try:
        for folder in [directory, *directory.parents]:
            try:
                mode = os.stat(folder).st_mode
            except FileNotFoundError:
                if folder.is_symlink():
                    raise
                continue
            if not stat.S_ISDIR(mode):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            longest = max((len(os.fsencode(part)) for part in directory.relative_to(folder).parts), default=0)
            if longest > os.pathconf(folder, "PC_NAME_MAX"):
                raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
            with tempfile.TemporaryFile(dir=folder):
                break
    except OSError as error:
        raise InputError(
            f"output must be a directory that can be written, got {directory} ({error.strerror})"
        ) from error
    folders.check_own(directory)
    if folders.is_joined(directory):
        raise InputError(f"output must be a folder of its own, got {directory}, which holds results of several runs")
    for name in folders.RESULTS:
        if (directory / name).is_dir():
            raise InputError(f"output must leave room for its files, got a directory {directory / name}")

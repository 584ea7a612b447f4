"""Execution of one configuration: measure what is missing, make table, summary and figure from the ledger alone."""

import contextlib
import dataclasses
import itertools
import os
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from experiments import columns
from experiments.contract import InputError, Point, Row, StoppedError
from experiments.runner import boundary, folders, launching, locks, mirror, numerics, pieces, registry
from experiments.runner.planning import Plan, check_names, check_science, plan
from experiments.shared import hardware
from experiments.system import files, terminal


def run(plans: Sequence[Plan]) -> None:
    """Carry out plans one after the other, and leave the process as it was.

    A plan whose directory another process holds comes last, and waits until that process is done or dead. A shard that
    leaves nothing to others is followed by its run as a whole, which makes the results.

    Raises:
        StoppedError: results could not be written, say; its text says what is kept.
        KeyboardInterrupt: its text says how to go on.
    """
    waiting, announced = deque(enumerate(plans, start=1)), set()
    refused = 0
    try:
        while waiting:
            number, each = waiting.popleft()
            with locks.claimed(_make_directory(each.job.directory), each.job.config.shard) as claim:
                if claim is not None and (claim.alone or not each.ledger.foreign()):
                    if len(plans) > 1:
                        terminal.say(f"job {number} of {len(plans)}: {each.job.label or each.job.conf}")
                    if _carry_out(each, claim):
                        waiting.append((number, each.whole()))
                    refused = 0
                    continue
            if number not in announced:
                announced.add(number)
                where = each.job.directory
                terminal.say(f"{where} is being measured by another process; its turn comes when that one has ended")
            waiting.append((number, each))
            refused += 1
            if refused >= len(waiting):
                time.sleep(locks.PATIENCE)
    finally:
        mirror.shut_down()
        for each in plans:
            each.ledger.close()


def _make_directory(directory: Path) -> Path:
    try:
        return files.make_directory(directory)
    except OSError as error:
        raise StoppedError(f"the run stopped ({error}): its results have nowhere to go") from error


def run_launched(config: Any) -> None:
    """Run one job in whatever process a launcher has put it; `config` is what Hydra composed."""
    run([plan(launching.received_job(config))])


def _carry_out(plan: Plan, claim: locks.Claim) -> bool:
    """Measure what is missing of a plan and conclude; even if interrupted, the ledger is complete and W&B is closed.

    Returns:
        Whether it was a shard that left nothing to others.
    """
    copy = None
    code = 1
    try:
        with _interruptible(plan), hardware.telling():
            missing = _begin(plan, claim)
            if plan.job.config.shard is not None:
                claim.share()
                return _measure_shard(plan)
            copy = _mirror(plan, again=not missing)
            while missing:
                copy.expect(plan.points)
                _measure(plan, missing, copy.log)
                missing = _missing(plan)
            from experiments.runner import (
                conclusion,  # Matplotlib and what summaries take, imported beside no measuring
            )

            conclusion.conclude(plan, copy)
    except KeyboardInterrupt as error:
        code = getattr(error, "code", 130)
        raise
    finally:
        if copy is not None:
            copy.close(code)
        plan.ledger.close()
    return False


def _measure_shard(plan: Plan) -> bool:
    """Measure this process's share of what is missing of a run. Returns whether nothing is left to other shards.

    Points behind which there are pieces are left to the run as a whole, which only adds them up.
    """

    def missing() -> tuple[list[Point], list[Point]]:
        points = plan.ledger.missing(plan.points)
        cut = pieces.behind(plan, points)
        alone = [point for point in points if not pieces.behind(plan, [point])] if cut else points
        return plan.ledger.missing(cut), alone

    parts, points = (plan.share(each) for each in missing())
    with numerics.physics():
        pieces.measure(plan, parts, len(parts))
    if points:
        _measure(plan, points, lambda point, row: None)
    plan.ledger.reload()
    left = sum(map(len, missing()))
    if left:
        where = plan.job.directory
        terminal.say(
            f"shard {plan.job.config.shard} of {where} is measured; {left} points or pieces are left to others"
        )
    return not left


@contextlib.contextmanager
def _interruptible(plan: Plan) -> Iterator[None]:
    """Block of work on a plan: what stops it is one sentence that says how far it came."""
    try:
        yield
    except KeyboardInterrupt as error:
        error.args = (_progress(plan),)
        raise
    except OSError as error:
        raise StoppedError(f"the run stopped ({error}): {_progress(plan)}") from error
    except (InputError, StoppedError):
        raise
    except BaseException as error:  # code of a user's own may also leave by sys.exit
        if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error):  # XLA's word for no memory
            raise StoppedError(f"the run stopped (it needs more memory than there is): {_progress(plan)}") from error
        why = f"{boundary.one_line(error)}{_own_line(error, registry.home(plan.job.experiment))}"
        log = boundary.write_traceback(error, plan.job.directory if plan.job.kept else None)
        raise StoppedError(f"the run stopped ({why}): {_progress(plan)}; the traceback is in {log}") from error


def _own_line(error: BaseException, home: str) -> str:
    """The last line of a user-defined experiment that an error went through, ` (mine/experiment.py:42)`, if any."""
    frames = traceback.extract_tb(error.__traceback__) if home else []
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(home)]
    return f" ({os.path.relpath(own[-1].filename)}:{own[-1].lineno})" if own else ""


def _progress(plan: Plan) -> str:
    """Progress of a run: counted on disk, as the interruption may have struck between writing a row and noting it."""
    if not plan.job.kept:
        return "nothing is kept without output=FOLDER"
    total = len(plan.points)
    plan.ledger.reload()
    missing = plan.ledger.missing(plan.points)
    done = total - len(missing)
    kept = f"{done} of {total} points{pieces.progress(plan, missing)} are kept in {plan.job.directory}"
    return f"{kept}; the same command goes on from there"


def _begin(plan: Plan, claim: locks.Claim) -> list[Point]:
    """Write down the options in the directory, and return the points that are missing."""
    directory = plan.job.directory
    plan.ledger.reload()  # another process may have measured since the plan was made
    check_science(plan)
    if claim.alone:
        _set_aside(plan)
        for damaged in plan.ledger.mend():
            terminal.say(damaged)
    files.write_text(directory / "config.yaml", plan.job.yaml())
    missing = _missing(plan)
    if missing or folders.read(directory) is None:
        plan.record(complete=False).write(directory)
    if len(missing) < len(plan.points):
        terminal.say(
            f"{len(plan.points) - len(missing)} of {len(plan.points)} points are measured already in {directory}"
        )
    for note in (*plan.unsure, *(plan.notes if missing else ())):
        terminal.say(note)
    return missing


def _set_aside(plan: Plan) -> None:
    """Move results of other science to a folder of their own; the ledger last, which tells what they are."""
    directory = plan.job.directory
    record, options = folders.read(directory), folders.leaves(plan.job.config, extending=False)
    other = plan.job.collects and record is not None and record.collects and record.asked != options
    if not plan.ledger.foreign() and not other:
        return
    numbers = itertools.count(1)
    folder = next(path for number in numbers if not (path := directory / f"overwritten-{number}").exists())
    files.make_directory(folder)
    for name in folders.RESULTS:
        if (directory / name).exists():
            os.replace(directory / name, folder / name)
    files.sync_directory(folder)
    plan.ledger.part_with(folder / "ledger", everything=other)
    terminal.say(f"results of other options in {directory} are set aside in {folder.name}")


def _missing(plan: Plan) -> list[Point]:
    """The points that have no row yet, once the experiment has refined the complete set as often as it wants to."""
    refine = getattr(plan.experiment, "refine", None)
    while not (missing := plan.ledger.missing(plan.points)) and refine is not None:
        known = {plan.ledger.key(point) for point in plan.points}
        further = refine(plan.job.config, plan.ledger.rows(plan.points))
        further = [point for point in further if plan.ledger.key(point) not in known]
        if not further:
            return []
        check_names(plan.job.conf, [*plan.points, *further])
        plan.points.extend(further)
    return missing


def _mirror(plan: Plan, *, again: bool) -> mirror.Mirror:
    record = folders.read(plan.job.directory)
    return mirror.Mirror(
        plan.job,
        mode=plan.mode,
        x_axis=plan.experiment.X_AXIS,
        known=plan.ledger.pairs(plan.points),
        again=again and record is not None and record.complete,
        warn=lambda text: terminal.say(f"warning: {text}"),
    )


def _measure(plan: Plan, missing: Sequence[Point], log: Callable[[Point, Row], None]) -> None:
    """Measure missing points, each on disk before the next."""
    total, names, declared = len(plan.points), list(missing[0]), registry.columns(plan.job.experiment)
    waiting = {plan.ledger.key(point): point for point in missing}
    config = dataclasses.replace(plan.job.config, output=str(plan.job.directory))
    with numerics.physics(plan.hardware(len(missing))):
        done = pieces.finish(plan, missing)
        about = {"total": total, "initial": total - len(missing), "desc": plan.job.conf, "unit": "point"}
        with terminal.progress(**about) as bar:
            for row in plan.experiment.measure(config, missing, *([done] if done else [])):
                columns.check_row(row, names, declared, plan.experiment.X_AXIS)
                point = waiting.pop(plan.ledger.key({name: row[name] for name in names}), None)
                if point is None:
                    raise RuntimeError(f"{plan.job.experiment}.measure yielded a row nobody asked for: {row}")
                plan.ledger.record(point, row)
                log(point, row)
                bar.update()
                boundary.stop_if_asked()
    if waiting:
        raise RuntimeError(
            f"{plan.job.experiment}.measure left out {len(waiting)} points: {next(iter(waiting.values()))}"
        )

"""Faults: runs in forked processes whose n-th operation on their files fails, or is the last thing that they do.

python faults.py FOLDER SCENARIO:STRIDE ...   tries every STRIDE-th operation of a scenario with every fault; prints one
JSON object per injection: scenario, fault, n, operation, outcome.

An operation is an open, write, fsync, replace, link, unlink or mkdir below the output directory, by whatever library.
Of a write half is written. Every run is started again without a fault, and has to end with the undisturbed results.
"""

import builtins
import contextlib
import errno
import io
import itertools
import json
import os
import shutil
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import experiments
from experiments import contract
from experiments.runner import boundary, compose, execute, locks, numerics, planning, session
from experiments.shared import hardware
from experiments.system import files, provenance, terminal
from experiments.training.checkpoints import load, save

FIXTURE = Path(__file__).parents[1] / "fixture"
FAULTS = {"kill": None, "EIO": errno.EIO, "ENOSPC": errno.ENOSPC, "full": errno.ENOSPC}
"""Faults of an operation; `full` also strikes all that follow and need room."""
ROOM = ("open", "write", "mkdir", "link")
WORDS = [
    "conf=toy",
    "loads=[0.5]",
    "slopes=[1.0]",
    "kinds=[red]",
    "figure.format=[svg]",
    "output=out",
    "wandb.mode=disabled",
]


class Shim:
    """The operations below a folder, counted; the n-th of them meets a fault.

    Args:
        folder: where operations count.
        fault: one of `FAULTS`.
        number: of the operation, from 1; 0 for none.
        mark: an open file that is told which operation it was.
    """

    def __init__(self, folder: Path, fault: str, number: int, mark: int) -> None:
        self.folder, self.fault, self.number, self.mark = str(folder), fault, number, mark
        self.count, self.write = 0, os.write
        for name in ("open", "fsync", "replace", "link", "unlink", "mkdir"):
            setattr(os, name, self._guarded(name, getattr(os, name)))
        os.write = self._write  # type: ignore[assignment]
        builtins.open = io.open = self._open(builtins.open)  # type: ignore[assignment]

    def strikes(self, name: str, target: Any) -> bool:
        if isinstance(target, int):
            target = os.readlink(f"/proc/self/fd/{target}")
        if not os.path.abspath(os.fsdecode(target)).startswith(self.folder):
            return False
        self.count += 1
        lasting = self.fault == "full" and self.count > self.number > 0 and name in ROOM
        if self.count == self.number:
            self.write(self.mark, name.encode())
        return self.count == self.number or lasting

    def strike(self, target: Any) -> None:
        code = FAULTS[self.fault]
        if code is None:
            os.kill(os.getpid(), signal.SIGKILL)
        else:
            raise OSError(code, os.strerror(code), None if isinstance(target, int) else str(target))

    def _guarded(self, name: str, function: Callable) -> Callable:
        def guarded(target: Any, *more: Any, **options: Any) -> Any:
            if self.strikes(name, target):
                self.strike(target)
            return function(target, *more, **options)

        return guarded

    def _write(self, file: int, data: Any) -> int:
        if self.strikes("write", file):
            self.write(file, bytes(data)[: len(data) // 2])
            self.strike(file)
        return self.write(file, data)

    def _open(self, function: Callable) -> Callable:
        shim = self

        class Raw(io.FileIO):
            """A file whose every write goes through `os.write`, and which nobody writes to behind its back."""

            def write(self, data: Any) -> int:
                return shim._write(super().fileno(), data)

            def fileno(self) -> int:
                raise io.UnsupportedOperation

        def opened(file: Any, mode: str = "r", buffering: int = -1, *more: Any, **options: Any) -> Any:
            if isinstance(file, int) or not os.path.abspath(os.fsdecode(file)).startswith(shim.folder):
                return function(file, mode, buffering, *more, **options)
            if shim.strikes("open", file):
                shim.strike(file)
            if set(mode) & set("wax+") and "opener" not in options:
                raw = Raw(file, mode.replace("b", "").replace("t", ""))
                whole = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
                return whole if "b" in mode else io.TextIOWrapper(whole, *more, **options)
            return function(file, mode, buffering, *more, **options)

        return opened


def toy(*words: str) -> Callable[[], int]:
    """A run of the toy, composed before it is forked."""
    given = {word.partition("=")[0] for word in words}
    with session.opened(FIXTURE):
        jobs = compose.jobs([*(word for word in WORDS if word.partition("=")[0] not in given), *words], sweep=False)

    def run() -> int:
        execute.run([planning.plan(job) for job in jobs])
        return 0

    return lambda: boundary.run_command(run)


def checkpoints() -> int:
    """A run that saves what it has after every row."""
    directory = Path("out").absolute()
    path = directory / "checkpoints" / "run.msgpack"
    try:
        with locks.claimed(files.make_directory(directory)):
            found = load(path, {"w": np.zeros(2)})
            rows = found[1] if found else []
            while len(rows) < 3:
                rows.append({"epoch": len(rows)})
                save(path, {"w": np.full(2, len(rows))}, rows)
            files.write_text(directory / "table.csv", files.encode(rows))
    except (OSError, contract.StoppedError) as error:
        terminal.say(f"error: {error}")
        return 1
    return 0


def damage(folder: Path) -> None:
    """A changed digit, half a file and the lock of a shard that is no more."""
    (file,) = (folder / "ledger").glob("*.jsonl")
    file.write_bytes(file.read_bytes().replace(b'"trials":3', b'"trials":4', 1))
    (folder / f".hopfield-{'0' * 32}.table.csv").write_text("half")
    (folder / f"{locks.NAME}-1-of-2").touch()


def run_in_process(folder: Path, run: Callable[[], int], fault: str, number: int) -> tuple[int, str, str]:
    """Exit code, stderr and the operation that met the fault, of a run in a process of its own."""
    said, mark = folder.parent / "said", folder.parent / "mark"
    child = os.fork()
    if not child:
        code = 99
        signal.alarm(120)  # who waits for ever is killed
        try:
            for file, stream in ((os.devnull, 1), (str(said), 2)):
                os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
            sys.stdout, sys.stderr = io.TextIOWrapper(io.FileIO(1, "w")), io.TextIOWrapper(io.FileIO(2, "w"))
            os.chdir(folder.parent)
            Shim(folder, fault, number, os.open(mark, os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
            code = run()
            sys.stderr.flush()
        finally:
            os._exit(code)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status, said.read_text(), mark.read_text()


def results(folder: Path) -> dict[str, bytes]:
    """Files of a run, but for the ledger and files set aside, whose names no two runs share."""
    kept = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".jsonl"]
    shared = [path for path in kept if not path.name.startswith("damaged-") and "overwritten" not in str(path)]
    return {str(path.relative_to(folder)): path.read_bytes() for path in shared}


def verdict(code: int, said: str, same: bool, fault: str) -> str:
    """The outcome in a word or two; one that begins with "bad" is none."""
    errors = [line for line in said.splitlines() if line.startswith("error: ")]
    if "Traceback" in said or "Exception ignored" in said or len(errors) > 1:
        return f"bad: {said}"
    if fault == "kill":
        return "killed" if code == -signal.SIGKILL else f"bad: exit {code} {said}"
    if code == 0:
        return "same results" if same else "bad: exit 0 with other results"
    return "one sentence" if code in (1, 2) and errors else f"bad: exit {code} {said}"


def scenario(name: str, top: Path) -> tuple[Callable[[], int], Path | None]:
    """A run, and the folder that it finds."""
    if name == "checkpoints":
        return checkpoints, None
    if name == "fresh":
        return toy(), None
    words = ["seed=1"] if name == "overwritten" else []
    template = top / "before"
    run_in_process(top / "out", toy(*words), "EIO", 0)
    if name == "damaged":
        damage(top / "out")
    (top / "out").rename(template)
    return toy(*["overwrite=true"] * len(words)), template


def inject(run: Callable[[], int], template: Path | None, folder: Path, fault: str, number: int) -> tuple[str, str]:
    """The operation that meets a fault, empty if there are not so many, and the outcome."""

    def begin() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        if template is not None:
            shutil.copytree(template, folder)

    begin()
    if number == 0:
        return "", verdict(*run_in_process(folder, run, fault, 0)[:2], True, fault)
    whole = results(folder.parent / "whole")
    code, said, operation = run_in_process(folder, run, fault, number)
    if not operation:
        return "", ""
    outcome = verdict(code, said, results(folder).get("table.csv") == whole.get("table.csv"), fault)
    again, said, _ = run_in_process(folder, run, "EIO", 0)
    if again or results(folder) != whole:
        return operation, f"bad: then exit {again}, {sorted(results(folder))} {said}"
    kept = b"".join(path.read_bytes() for path in [*folder.rglob("*.jsonl"), *folder.rglob("damaged-*")])
    before = template.glob("ledger/*.jsonl") if template else ()
    if any(line not in kept for path in before for line in path.read_bytes().splitlines()):
        return operation, "bad: what was to be set aside is lost"
    return operation, outcome


def all_faults(top: Path, name: str, stride: int) -> Iterator[dict]:
    """Every `stride`-th operation of a scenario with every fault, each fault beginning at another one."""
    top.mkdir()
    run, template = scenario(name, top)
    folder = top / "out"
    outcome = inject(run, template, folder, "EIO", 0)[1]
    if outcome != "same results":
        raise RuntimeError(outcome)
    folder.rename(top / "whole")
    for shift, fault in enumerate(FAULTS):
        for number in itertools.count(1 + shift * stride // len(FAULTS), stride):
            operation, outcome = inject(run, template, folder, fault, number)
            if not operation:
                break
            yield {"scenario": name, "fault": fault, "n": number, "operation": operation, "outcome": outcome}


def main(top: Path, words: Sequence[str]) -> None:
    """Try scenarios one after the other; what a run loads and draws with is ready before it is forked."""
    experiments.__path__.append(str(FIXTURE / "experiments"))
    warnings.filterwarnings("ignore", message="os.fork")
    # They ask for devices, whose threads would not survive a fork.
    provenance.environment, hardware.choose = lambda: {}, lambda *_: None  # type: ignore[assignment]
    numerics.physics = lambda *_: contextlib.nullcontext()  # type: ignore[assignment]
    os.chdir(top)
    with contextlib.redirect_stdout(io.StringIO()):
        toy("output=warm")()
    for word in words:
        name, _, stride = word.partition(":")
        for told in all_faults(top / name, name, int(stride)):
            sys.stdout.write(json.dumps(told) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), sys.argv[2:])

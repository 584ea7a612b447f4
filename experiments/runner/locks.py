"""Locks on directories: a claim to measure one, which other processes see, here or elsewhere, and dies with its holder.

Several processes may be given the same sweep. Each takes the jobs that no other holds; a job that is held is left for
later, and taken over when its holder has finished or is gone. Pieces of a job are claimed in the same way. No locks,
which network file systems do not keep: the claim is a file that only one process can create, whose time of change is
renewed while the holder lives.

A claim is removed, by its holder or after its death, by whoever holds the claim on removing it, a file of the same
kind that is named after its contents. No two claims have the same contents: what was a dead claim a moment ago, and is
a living one now, stays.
"""

import contextlib
import errno
import hashlib
import json
import os
import socket
import stat
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from experiments.contract import StoppedError
from experiments.system import files, processes
from experiments.system.processes import SILENT

RENEWED = 5.0
"""Seconds between signs of life."""
NAME = "claim.json"
UNLINKED = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}
"""Errors that file systems without hard links answer to one."""


class Found(NamedTuple):
    """A claim that is there."""

    text: str
    holder: str
    alive: bool


@contextlib.contextmanager
def claimed(directory: Path, piece: str = "") -> Iterator[str | None]:
    """Hold the claim of a directory for the length of a block. Yields None, or the name of the process that holds it.

    Args:
        directory: it, which exists.
        piece: name of a piece of the work there, which is claimed in place of all of it.

    Raises:
        StoppedError: the directory cannot be written, say; one sentence.
    """
    path, signature = directory / (f"claim-{piece}.json" if piece else NAME), _signature()
    try:
        holder = _take(path, signature)
        if holder is None:
            _tidy(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            _remove(path, signature, alive=True)
        why = error.strerror or error
        raise StoppedError(f"the run stopped ({why}): {directory} cannot be claimed; what is there is kept") from error
    if holder is not None:
        yield holder
        return
    over = threading.Event()
    beat = threading.Thread(target=_renew, args=(path, over), daemon=True)
    beat.start()
    try:
        yield None
    finally:
        over.set()
        beat.join()
        with contextlib.suppress(OSError):  # what cannot be removed dies with this process
            _remove(path, signature, alive=True)


def holder(directory: Path) -> str | None:
    """Name of the living process that holds a directory, or None. Nothing is claimed."""
    with contextlib.suppress(OSError):
        claim = _find(directory / NAME, time.time())
        return claim.holder if claim is not None and claim.alive else None
    return None


def _signature() -> str:
    """Contents of a claim of this process, unlike any other."""
    process = os.getpid()
    return json.dumps(
        {
            "host": socket.gethostname(),
            "process": process,
            "born": processes.start_time(process),
            "claim": uuid.uuid4().hex,
        }
    )


def _take(path: Path, signature: str) -> str | None:
    """Create a claim, in place of one of a dead holder. None on success, else the living holder."""
    while True:
        now = _create(path, signature)
        claim = _find(path, now)
        if claim is None:  # released in between
            continue
        if claim.text == signature:
            return None
        if claim.alive:
            return claim.holder
        rival = _remove(path, claim.text, alive=False)
        if rival is not None:
            return rival


def _create(path: Path, signature: str) -> float:
    """Write a claim unless there is one. Returns the time by the clock of the file system."""
    draft = processes.temporary(path)
    try:
        draft.write_text(signature, encoding="utf-8")
        now = draft.stat().st_mtime
        try:
            os.link(draft, path)  # whole from the beginning: a claim that can be seen can be read
        except OSError as error:
            if error.errno in UNLINKED:
                _write(path, signature)
            elif error.errno != errno.EEXIST:
                raise
    finally:
        draft.unlink(missing_ok=True)
    files.sync_directory(path.parent)
    return now


def _write(path: Path, signature: str) -> None:
    """Write a claim on a file system without hard links. Others may see it half written."""
    with contextlib.suppress(FileExistsError), path.open("x", encoding="utf-8") as file:
        try:
            file.write(signature)
            file.flush()
        except OSError:
            path.unlink(missing_ok=True)
            raise


def _find(path: Path, now: float) -> Found | None:
    """Claim in a file, or None without one. An unreadable claim is judged by its age."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # a pipe could block for ever
            raise OSError(errno.EINVAL, f"{path.name} is no file")
        # Of a time in the future, too, no more than SILENT is believed: a living holder renews it.
        text, age = path.read_text(encoding="utf-8", errors="replace"), abs(now - status.st_mtime)
    except FileNotFoundError:
        return None
    try:
        holder = json.loads(text)
        return Found(text, f"process {holder['process']} on {holder['host']}", _is_alive(holder, age))
    except (ValueError, TypeError, KeyError):
        return Found(text, "a process that has just begun", age < SILENT)


def _remove(path: Path, text: str, *, alive: bool) -> str | None:
    """Removes a claim with these contents, dead or alive. Returns the name of another process removing it."""
    right = path.with_name(f"{path.name}.{hashlib.sha256(text.encode()).hexdigest()[:32]}")
    rival = _take(right, _signature())
    if rival is not None:
        return rival
    try:
        claim = _find(path, right.stat().st_mtime)
        if claim is not None and claim.text == text and claim.alive == alive:
            path.unlink(missing_ok=True)
    finally:
        right.unlink(missing_ok=True)
    return None


def _tidy(path: Path) -> None:
    """Remove files that processes left when they were killed in claiming, releasing a claim or writing a file."""
    now = path.stat().st_mtime
    processes.sweep(path.parent, now)
    for left in path.parent.glob("claim*.json*"):
        claim = _find(left, now)
        if claim is not None and not claim.alive:
            _remove(left, claim.text, alive=False)


def _is_alive(holder: dict, age: float) -> bool:
    if holder["host"] == socket.gethostname():
        born = processes.start_time(holder["process"])
        return born is not None and born == holder["born"]
    return age < SILENT


def _renew(path: Path, over: threading.Event) -> None:
    while not over.wait(RENEWED):
        with contextlib.suppress(OSError):
            os.utime(path)

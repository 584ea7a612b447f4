"""Who measures a directory: a claim that other processes see, here or elsewhere, and that dies with its holder.

Several processes may be given the same sweep. Each takes the jobs that no other holds; a job that is held is left for
later, and taken over when its holder has finished or is gone. No locks, which network file systems do not keep: the
claim is a file that only one process can create, whose time of change is renewed while the holder lives.
"""

import contextlib
import json
import os
import socket
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

RENEWED = 5.0
"""Seconds between signs of life."""
SILENT = 60.0
"""Seconds without one after which a holder on another machine is taken for dead."""
NAME = "claim.json"


@contextlib.contextmanager
def claimed(directory: Path) -> Iterator[str | None]:
    """Hold the claim of a directory for the length of a block; gives None, or the name of the process that holds it."""
    path = directory / NAME
    holder = _take(path)
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
        with contextlib.suppress(FileNotFoundError):
            path.unlink()


def _take(path: Path) -> str | None:
    """Create the claim, past the remains of a dead holder; None on success, else who is alive."""
    own = json.dumps({"host": socket.gethostname(), "process": os.getpid(), "born": _born(os.getpid())})
    while True:
        # Written whole and then linked: a claim that can be seen can be read.
        draft = path.with_name(f"{NAME}.{uuid.uuid4().hex}")
        draft.write_text(own, encoding="utf-8")
        try:
            os.link(draft, path)
            return None
        except FileExistsError:
            pass
        finally:
            now = draft.stat().st_mtime  # by the clock of the file system
            draft.unlink()
        try:
            found, age = json.loads(path.read_text(encoding="utf-8")), now - path.stat().st_mtime
        except (FileNotFoundError, ValueError):
            continue
        if _alive(found, age):
            return f"process {found['process']} on {found['host']}"
        with contextlib.suppress(FileNotFoundError):  # another process may be burying it, too
            grave = path.with_name(f"{NAME}.{uuid.uuid4().hex}")
            os.rename(path, grave)
            grave.unlink()


def _alive(holder: dict, age: float) -> bool:
    if holder["host"] == socket.gethostname():
        born = _born(holder["process"])
        return born is not None and born == holder["born"]
    return age < SILENT


def _born(process: int) -> str | None:
    """When a process of this machine began, so that its number given anew is told from it; None if there is none."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return None if fields[0] == "Z" else fields[19]
    except FileNotFoundError:
        if Path("/proc/self").exists():
            return None
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass
    return ""


def _renew(path: Path, over: threading.Event) -> None:
    while not over.wait(RENEWED):
        with contextlib.suppress(OSError):
            os.utime(path)

"""Processes and their temporary files: which are alive, and which files belong to them."""

import hashlib
import os
import re
import socket
import uuid
from pathlib import Path

SILENT = 60.0
"""Seconds without a sign of life after which a process on another machine is taken for dead."""
_MARK = re.compile(r"\.hopfield-([0-9a-f]{8})-(\d+)-(\d*)-[0-9a-f]{8}\.")


def start_time(process: int) -> str | None:
    """Start time of a process of this machine, which distinguishes it from a later one of the same number, or None."""
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


def temporary(path: Path) -> Path:
    """Unique name beside `path`, with its suffix, that contains the owning process."""
    process = os.getpid()
    return path.with_name(f".hopfield-{_host()}-{process}-{start_time(process)}-{uuid.uuid4().hex[:8]}.{path.name}")


def sweep(directory: Path, now: float) -> None:
    """Remove the temporary files that dead processes have left in a directory and the folders in it.

    Args:
        directory: need not exist.
        now: time by the clock of the file system, by which files of other machines are judged.
    """
    for pattern in (".hopfield-*", "*/.hopfield-*"):
        for path in directory.glob(pattern):
            mark = _MARK.match(path.name)
            if mark and not _is_alive(path, *mark.groups(), now=now):
                path.unlink(missing_ok=True)


def _is_alive(path: Path, host: str, process: str, began: str, *, now: float) -> bool:
    if host == _host():
        return start_time(int(process)) == began
    try:
        return now - path.stat().st_mtime < SILENT
    except FileNotFoundError:
        return True


def _host() -> str:
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]

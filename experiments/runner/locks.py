"""Claims on folders of results: whoever writes into one holds it, by a lock that the system takes back when it dies.

A run holds its folder. Of a run in shards (`shard=3/8`) each holds a lock of its own while it measures, and the folder
only while it begins, so that a whole run finds the folder free once no shard is at it. The locks are file locks,
which hold between containers and machines that share a disk; a process that is stopped keeps its own.
"""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from experiments.contract import StoppedError
from experiments.system import files

NAME = ".claim"
PATIENCE = 0.5
"""Seconds between two looks at a folder that another process holds."""


class Claim:
    """Folder that this process holds.

    Args:
        lock: the folder's lock.
        alone: whether no shard is measured there, so that what was left there may be moved and mended.
    """

    def __init__(self, lock: FileLock, alone: bool) -> None:
        self._lock, self.alone = lock, alone

    def share(self) -> None:
        """Give the folder back, for other shards to begin in."""
        self._lock.release()


@contextlib.contextmanager
def claimed(directory: Path, shard: str | None = None) -> Iterator[Claim | None]:
    """Hold a folder for the length of a block. Yields None if another process holds it.

    Args:
        directory: folder of the run; it must exist.
        shard: part of its run that is measured, as 3/8; all of it if None.

    Raises:
        StoppedError: the folder cannot be written, say; one sentence.
    """
    with contextlib.ExitStack() as held:
        try:
            claim = _take(directory, shard, held)
        except OSError as error:
            why = f"{directory} cannot be claimed; what is there is kept"
            raise StoppedError(f"the run stopped ({error.strerror or error}): {why}") from error
        yield claim


@contextlib.contextmanager
def waited_for(directory: Path) -> Iterator[None]:
    """Hold a folder for the length of a block, once no other process does."""
    while True:
        with claimed(directory) as claim:
            if claim is not None:
                yield
                return
        time.sleep(PATIENCE)


def is_held(directory: Path) -> bool:
    """True if a living process measures in a folder, by the locks that can be read."""
    with contextlib.suppress(OSError), contextlib.ExitStack() as held:
        return (directory / NAME).is_file() and (_lock(directory / NAME, held) is None or _has_shards(directory))
    return False


def _take(directory: Path, shard: str | None, held: contextlib.ExitStack) -> Claim | None:
    lock = _lock(directory / NAME, held)
    if lock is None:
        return None
    own = directory / f"{NAME}-{shard.replace('/', '-of-')}" if shard else None
    alone = not _has_shards(directory, own)
    if alone:
        for path in directory.glob(f"{NAME}-*"):  # nobody holds them, and who wants to must hold the folder first
            path.unlink(missing_ok=True)
        files.sweep(directory, but=NAME)
    if not (alone if own is None else _lock(own, held)):
        lock.release()
        return None
    return Claim(lock, alone)


def _lock(path: Path, held: contextlib.ExitStack) -> FileLock | None:
    """Lock of a file, held until the stack is left; None if another process has it."""
    try:
        lock = FileLock(path, timeout=0)
        held.enter_context(lock)
    except Timeout:
        return None
    return lock


def _has_shards(directory: Path, but: Path | None = None) -> bool:
    """True if shards are measured in a folder."""
    with contextlib.ExitStack() as probed:
        return any(_lock(path, probed) is None for path in directory.glob(f"{NAME}-*") if path != but)

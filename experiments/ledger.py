"""The ledger: one measured point, one line on disk at once, so that a run killed at any moment goes on where it was.

A ledger is a folder of JSON-lines files, one per process that ever wrote to it: no locks, and no process touches the
file of another. A line is {"key": ..., "row": ...}, where the key is a hash of the experiment, of the scientific part
of its options and of the point. Rows of other options may share the folder; they are simply not asked for.
"""

import json
import os
import socket
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path

from experiments.base import InputError, encode, fingerprint


class Ledger:
    """Rows measured so far in a directory, for one experiment and one choice of its scientific options.

    Args:
        directory: folder of the ledger; need not exist, is made by the first `record`.
        experiment: name of the experiment.
        science: all that a row depends on besides its point; JSON scalars, lists and dicts.

    Raises:
        InputError: a file in the directory holds something other than rows.
    """

    def __init__(self, directory: Path, experiment: str, science: dict) -> None:
        self._directory = directory
        self._salt = [experiment, science]
        self._own: int | None = None
        self._rows: dict[str, dict] = {}
        self.reload()

    def key(self, point: dict) -> str:
        """Hash under which the row of a point is kept; the order of the point's entries does not matter."""
        return fingerprint([*self._salt, point])

    def reload(self) -> None:
        """Read what all processes have written up to now; a line still without its end is not a row yet."""
        if self._directory.exists() and not self._directory.is_dir():
            raise InputError(f"{self._directory} must be the ledger's folder, got a file")
        for path in sorted(self._directory.glob("*.jsonl")):
            for key, row in _read(path):
                self._rows.setdefault(key, row)

    def missing(self, points: Iterable[dict]) -> list[dict]:
        """The points that have no row yet, in the given order, each once."""
        wanted = {self.key(point): point for point in points}
        return [point for key, point in wanted.items() if key not in self._rows]

    def rows(self, points: Iterable[dict]) -> list[dict]:
        """The rows of the given points in the given order, each once; every point must have one."""
        return [self._rows[key] for key in dict.fromkeys(map(self.key, points))]

    def record(self, point: dict, row: dict) -> None:
        """Write the row of a point and wait until it is on disk."""
        key = self.key(point)
        line = encode({"key": key, "row": row})
        if self._own is None:
            self._own = self._create()
        data = memoryview(line.encode() + b"\n")
        while data:
            data = data[os.write(self._own, data) :]
        os.fsync(self._own)
        self._rows.setdefault(key, json.loads(line)["row"])

    def close(self) -> None:
        """Close this process's file."""
        if self._own is not None:
            os.close(self._own)
            self._own = None

    def _create(self) -> int:
        self._directory.mkdir(parents=True, exist_ok=True)
        name = f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}.jsonl"
        return os.open(self._directory / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)


def _read(path: Path) -> Sequence[tuple[str, dict]]:
    """All whole lines of one file; the torn last line of a killed process is passed over."""
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except OSError as error:
        raise InputError(f"{path} must be a readable ledger file, got: {error.strerror}") from None
    rows = []
    for number, line in enumerate(lines, start=1):
        try:
            entry = json.loads(line)
            key, row = entry["key"], entry["row"]
            if not (isinstance(key, str) and isinstance(row, dict)):
                raise TypeError
        except (ValueError, TypeError, KeyError, IndexError):
            seen = line[:40].decode("utf-8", "replace")
            raise InputError(
                f"{path} line {number} must be a row of the ledger, got {seen!r}; remove the line to measure it again"
            ) from None
        rows.append((key, row))
    return rows

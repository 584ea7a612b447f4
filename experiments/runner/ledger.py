"""The ledger: one measured point, one line on disk at once, so that a run killed at any moment resumes there.

A ledger is a folder of JSON-lines files, one per process that ever wrote to it: no locks, and no process touches the
file of another. The first line of a file is its heading,

    {"experiment": ..., "science": ..., "environment": ..., "sum": ...}

what the rows below depend on besides their points, and the versions and the machine that measured them. Every other
line is {"key": ..., "row": ..., "sum": ...}, where the key is a hash of experiment, science and point. `sum` is a
checksum of the line up to it: a line without a right one is no row, and its point is measured again.
"""

import hashlib
import json
import os
import re
import socket
import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from experiments.contract import InputError, Point, Row
from experiments.system import files, provenance
from experiments.system.files import encode, fingerprint

_SUM = re.compile(rb'(.*),"sum":"([0-9a-f]{16})"\}', re.DOTALL)


class _Part(NamedTuple):
    """Contents of one ledger file: headings, rows with the heading above each, whole lines and damaged ones."""

    headings: list[dict]
    rows: list[tuple[str, Row, dict]]
    whole: list[bytes]
    damaged: list[bytes]


class Ledger:
    """Rows measured so far in a directory, for one experiment and one choice of its scientific options.

    Args:
        directory: folder of the ledger; need not exist, is made by the first `record`.
        experiment: name of the experiment.
        science: all that a row depends on besides its point; JSON scalars, lists and dicts. Of its entry `contents`,
            a mapping of names to hashes, a row depends on those alone that are values of its point.

    Raises:
        InputError: the directory cannot be read.
    """

    def __init__(self, directory: Path, experiment: str, science: dict) -> None:
        self._directory = directory
        self._science = json.loads(encode(science))
        self._contents = self._science.get("contents", {})
        self._salt = [experiment, {name: science[name] for name in science if name != "contents"}]
        self._own_file: tuple[int, Path] | None = None
        self._rows: dict[str, tuple[Row, dict]] = {}
        self._headings: dict[Path, list[dict]] = {}
        self._damaged: dict[Path, bool] = {}
        self._stamps: dict[Path, tuple[int, int]] = {}
        self.reload()

    def key(self, point: Point) -> str:
        """Hash under which the row of a point is kept. The order of the point's entries does not matter."""
        named = {name: self._contents[name] for name in self._contents if name in point.values()}
        return fingerprint([*self._salt, point, *([named] if named else [])])

    def reload(self) -> None:
        """Read what all processes have written up to now; a line still without its end is not a row yet."""
        for path in self._files():
            stamp = _stamp(path)
            if self._stamps.get(path) == stamp:
                continue
            part = _read(path)
            self._stamps[path] = stamp
            self._headings[path], self._damaged[path] = part.headings, bool(part.damaged)
            for key, row, heading in part.rows:
                self._rows.setdefault(key, (row, heading))

    def missing(self, points: Iterable[Point]) -> list[Point]:
        """The points that have no row yet, in the given order, each once."""
        wanted = {self.key(point): point for point in points}
        return [point for key, point in wanted.items() if key not in self._rows]

    def rows(self, points: Iterable[Point]) -> list[Row]:
        """Rows of the given points in the given order, each once. Every point must have one."""
        return [self._rows[key][0] for key in dict.fromkeys(map(self.key, points))]

    def pairs(self, points: Iterable[Point]) -> list[tuple[Point, Row]]:
        """Pairs of a point and its row, for the given points with a row."""
        wanted = {self.key(point): point for point in points}
        return [(point, self._rows[key][0]) for key, point in wanted.items() if key in self._rows]

    def further(self, points: Iterable[Point]) -> list[Point]:
        """Further points of the same science that have rows, in the order of their values."""
        points = list(points)
        wanted, others = set(map(self.key, points)), []
        for key, (row, _) in self._rows.items():
            point = {name: row[name] for name in points[0] if name in row}
            if key not in wanted and self.key(point) == key:
                others.append(point)
        return sorted(others, key=lambda point: [(isinstance(v, str), v is not None, v) for v in point.values()])

    def environments(self, points: Iterable[Point]) -> list[tuple[dict, int]]:
        """Environments that the rows of the given points were measured with, {} if unknown, and how many with each."""
        counts = Counter(
            encode(self._rows[key][1].get("environment", {})) for key in dict.fromkeys(map(self.key, points))
        )
        return [(json.loads(environment), count) for environment, count in counts.items()]

    def record(self, point: Point, row: Row) -> None:
        """Write the row of a point and wait until it is on disk."""
        key = self.key(point)
        line = encode({"key": key, "row": row})
        if self._own_file is None:
            self._own_file = self._create()
        file, path = self._own_file
        _append(file, line)
        self._stamps[path] = _stamp(path)  # what is in it is known
        self._rows.setdefault(key, (json.loads(line)["row"], self._complete()))

    def close(self) -> None:
        """Close this process's file."""
        if self._own_file is not None:
            os.close(self._own_file[0])
            self._own_file = None

    def foreign(self) -> dict[Path, provenance.Difference]:
        """Files with rows of different provenance, as last read, and the first difference in each."""
        heading = _heading(self._salt[0], self._science)
        differences = {
            path: [provenance.difference(each, heading) for each in headings]
            for path, headings in self._headings.items()
        }
        return {path: next(filter(None, each)) for path, each in differences.items() if any(each)}

    def part_with(self, folder: Path, *, everything: bool = False) -> None:
        """Move the ledger's files with rows of other science to a folder, or all of its files with `everything`."""
        for path in self._headings if everything else self.foreign():
            os.replace(path, files.make_directory(folder) / path.name)
            files.sync_directory(folder)
        files.sync_directory(self._directory)
        for known in (self._rows, self._headings, self._damaged, self._stamps):
            known.clear()
        self.reload()

    def mend(self) -> list[str]:
        """Move damaged lines out of the files, which nobody may be using. Returns a sentence for each file mended."""
        said = []
        for path in (path for path, damaged in self._damaged.items() if damaged):
            part = _read(path)
            text = _text(part.damaged)
            aside = self._directory / f"damaged-{path.stem}-{hashlib.sha256(text).hexdigest()[:8]}"
            for target, content in ((aside, text), (path, _text(part.whole))):
                with files.replacing(target) as temporary:
                    temporary.write_bytes(content)
            number = len(part.damaged)
            lines = f"{number} lines" if number > 1 else "1 line"
            said.append(f"{lines} of {path} without a right checksum, kept in {aside.name}, to be measured again")
        self._damaged.clear()
        return said

    def _files(self) -> list[Path]:
        if self._directory.exists() and not self._directory.is_dir():
            raise InputError(f"{self._directory} must be the ledger's folder, got a file")
        paths = sorted(path for path in self._directory.glob("*.jsonl") if not path.name.startswith("."))
        for path in paths:
            if not path.is_file():
                raise InputError(f"{path} must be a readable ledger file, got something else")
        return paths

    def _complete(self) -> dict:
        return _heading(self._salt[0], self._science) | {"environment": provenance.environment()}

    def _create(self) -> tuple[int, Path]:
        files.make_directory(self._directory)
        path = self._directory / f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}.jsonl"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        try:
            files.sync_directory(self._directory)
            _append(descriptor, encode(self._complete()))
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor, path


def _heading(experiment: str, science: dict) -> dict:
    return {"experiment": experiment, "science": science}


def _text(lines: Sequence[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def _checksum(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:16]


def _append(file: int, line: str) -> None:
    """Add a line of JSON with its checksum to an open file and wait until it is on disk."""
    text = line.encode()[:-1]
    data = memoryview(text + f',"sum":"{_checksum(text)}"}}\n'.encode())
    while data:
        data = data[os.write(file, data) :]
    os.fsync(file)


def _stamp(path: Path) -> tuple[int, int]:
    """Size and time of change of a file: what was read once is not read again as long as both are the same."""
    try:
        status = path.stat()
    except OSError as error:
        raise InputError(f"{path} must be a readable ledger file, got: {error.strerror}") from None
    return status.st_size, status.st_mtime_ns


def _read(path: Path) -> _Part:
    """Whole lines of one file. The torn last line of a killed process is ignored."""
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except OSError as error:
        raise InputError(f"{path} must be a readable ledger file, got: {error.strerror}") from None
    part, heading = _Part([], [], [], []), {}
    for line in lines:
        entry = _entry(line)
        if entry is None:
            part.damaged.append(line)
            continue
        part.whole.append(line)
        if "key" in entry:
            part.rows.append((entry["key"], entry["row"], heading))
        else:
            heading = entry
            part.headings.append(entry)
    return part


def _entry(line: bytes) -> dict | None:
    """Entry that a line holds, None if it is not as it was written."""
    match = _SUM.fullmatch(line)
    if match is None or _checksum(match[1]).encode() != match[2]:
        return None
    return json.loads(match[1] + b"}")

"""Files of a run: written in one step, on disk before they count, and named by fingerprints."""

import contextlib
import dataclasses
import errno
import hashlib
import json
import os
import re
import stat
import uuid
from collections.abc import Iterator
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Any

from experiments.contract import UNMEASURED, Config, InputError

_TEMPORARY = re.compile(r"\.hopfield-[0-9a-f]{32}\.")


def _as_json(value: Any) -> Any:
    """JSON's view of an Enum, a dataclass or a numpy number."""
    if isinstance(value, Enum):
        return value.name
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if callable(tolist := getattr(value, "tolist", None)):
        return tolist()
    raise TypeError(f"value must be a number, a string, a list, a dict or a dataclass, got {value!r}")


def encode(value: Any, *, sort: bool = False) -> str:
    """JSON of a value on one line, numpy numbers as numbers (float64 survives exactly), keys sorted on request."""
    return json.dumps(value, sort_keys=sort, separators=(",", ":"), default=_as_json)


def fingerprint(value: Any) -> str:
    """SHA-256 of the canonical JSON of a value, as 64 hexadecimal digits."""
    return hashlib.sha256(encode(value, sort=True).encode()).hexdigest()


def options(config: Config) -> dict[str, Any]:
    """Options that determine the measurement, by name."""
    chosen = dataclasses.asdict(config)
    return {key: chosen[key] for key in chosen if key not in UNMEASURED}


def sync_directory(directory: Path) -> None:
    """Flushes a directory's entries to disk (fsync), where the file system can."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


def make_directory(directory: Path) -> Path:
    """Creates a directory, with its parents, and flushes them to disk. Returns it."""
    new = [folder for folder in (directory, *directory.parents) if not folder.exists()]
    directory.mkdir(parents=True, exist_ok=True)
    for folder in new:
        sync_directory(folder.parent)
    return directory


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file to fill that takes the place of `path` in one step when the block ends well.

    Args:
        path: the file to make or replace; its directory exists. The temporary file keeps its suffix.

    Raises:
        OSError: the directory cannot be written; `path` is untouched and the temporary file is gone.
    """
    temporary = path.with_name(f".hopfield-{uuid.uuid4().hex}.{path.name}")
    try:
        yield temporary
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
        sync_directory(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def sweep(directory: Path, but: str) -> None:
    """Remove the temporary files that killed processes left in a folder, which this process holds, and its folders.

    Folders that are links lie elsewhere and are another's.

    Args:
        but: name of a file that a folder has which another process may hold: that one is left alone.
    """
    inner = {path.parent for path in directory.glob("*/.hopfield-*")}
    for folder in (directory, *(each for each in inner if not each.is_symlink() and not (each / but).exists())):
        for path in folder.glob(".hopfield-*"):
            if _TEMPORARY.match(path.name) and (path.is_symlink() or not path.is_dir()):
                path.unlink(missing_ok=True)


def read_text(path: Path, most: int = 2**20) -> str:
    """Text of a file in UTF-8.

    Raises:
        InputError: it is no regular file (a pipe could block for ever), or has more bytes than `most`.
        OSError: it cannot be read.
    """
    status = path.stat()
    if not stat.S_ISREG(status.st_mode) or status.st_size > most:
        got = f"{status.st_size} bytes" if stat.S_ISREG(status.st_mode) else "something else"
        raise InputError(f"{path} must be a file of at most {most} bytes, got {got}")
    return path.read_text(encoding="utf-8")


def read_json(path: Path, most: int = 2**20) -> dict[str, Any]:
    """Object of JSON that a file holds.

    Raises:
        InputError: it holds something else, or what `read_text` says.
        OSError: it cannot be read.
    """
    try:
        value = json.loads(read_text(path, most))
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} must hold JSON, got: {type(error).__name__}: {str(error)[:80]}") from error
    if not isinstance(value, dict):
        raise InputError(f"{path} must hold an object of JSON, got {type(value).__name__}")
    return value


def write_text(path: Path, text: str) -> None:
    """Write a whole text file in one step (see `replacing`)."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")


def write_json(path: Path, value: Any) -> None:
    """Write a value as indented JSON that any reader accepts: NaN and infinities become null."""
    strict = json.loads(encode(value), parse_constant=lambda name: None)
    write_text(path, json.dumps(strict, indent=2, allow_nan=False) + "\n")


def digest(path: Path) -> str:
    """Hash of a whole file.

    Raises:
        InputError: it cannot be read.
    """
    try:
        state = os.stat(path)
        return _digest(os.path.realpath(path), state.st_ino, state.st_size, state.st_mtime_ns)
    except OSError as error:
        raise InputError(f"{path} must be a readable file, got: {error.strerror}") from None


@lru_cache(maxsize=256)
def _digest(path: str, *state: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

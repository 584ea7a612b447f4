"""Folders of runs: named by the options that were asked for, so that more of the same science lands in the same one.

`outputs/<conf>/<name>` holds one choice of all options but those that only add points (`grid_axis`, or `extends=True`:
samples, sizes, loads). Its ledger grows with every command that asks for more, and its table holds all of it. A
folder given as `output=` holds what the last command asked for.

`run.json` beside the table says what a list of runs shows without the library: what was asked, how many points that
is, and whether it is complete.
"""

import json
import os
import re
import reprlib
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple, get_origin, get_type_hints

from experiments import contract
from experiments.contract import InputError
from experiments.runner import locks
from experiments.system import files, terminal

RECORD = "run.json"
JOINED = "joined.json"
"""File of a folder of joined results that names the runs they are of, relative to it."""
RESULTS = (
    "config.yaml",
    RECORD,
    "table.csv",
    "summary.json",
    "estimates.csv",
    "report.html",
    *(f"figure.{suffix}" for suffix in contract.FORMATS),
)
"""Files that a run leaves beside its ledger."""
DEFAULT = "default"
"""Name of the folder where no option differs."""
LONGEST = 120
"""Bytes of a name at most: file systems take 255, and some tools less."""


class Record(NamedTuple):
    """Contents of `run.json`."""

    conf: str
    experiment: str
    command: str
    differs: dict[str, Any]
    """Options that differ from the configuration's, by dotted name."""
    science: str
    """Hash of all that a number depends on: the same on every machine."""
    asked: dict[str, Any]
    """All options but those that only add points, by dotted name."""
    columns: list[str]
    """Columns of the table that tell its points from each other."""
    rows: str
    """Hash of what a row depends on besides its point: rows of equal hash and point are one measurement."""
    pooled: str
    """The same without the seed: samples of equal hash are samples of one thing."""
    collects: bool
    """True if the folder gathers the points of all commands with its options."""
    points: int
    home: str = ""
    """Folder of a user-defined experiment."""
    further: int = 0
    """Points of the table that earlier commands asked for, and the last one did not."""
    complete: bool = False
    table: str = ""
    """Hash of the table as the run wrote it."""
    summary: str = ""
    """Hash of its summary."""

    def write(self, directory: Path) -> None:
        """Write the record to run.json of a folder, unless the file holds the same."""
        if read(directory) != self:
            files.write_json(directory / RECORD, self._asdict())


def read(directory: Path) -> Record | None:
    """Record of a folder, None if it is missing or cannot be read."""
    try:
        return load(directory)
    except (OSError, ValueError, TypeError):
        return None


def load(directory: Path) -> Record:
    """Record of a folder. Any error of a file that is none is passed on."""
    record = Record(**files.read_json(directory / RECORD))
    for name, kind in get_type_hints(Record).items():
        if not isinstance(getattr(record, name), get_origin(kind) or kind):
            raise ValueError(f"{name} must be of type {kind}, got {reprlib.repr(getattr(record, name))}")
    if not all(isinstance(name, str) for name in record.columns):
        raise ValueError(f"columns must be names, got {reprlib.repr(record.columns)}")
    return record


def shown(path: Path) -> str:
    """A path as text that any stream can write: what is no UTF-8 in its name becomes a sign for that."""
    return os.fsencode(path).decode(errors="replace")


def say_changed(directory: Path) -> bool:
    """True if the table or summary was changed after its run. Prints a warning of one line if so."""
    record = read(directory)
    for name, held in (("table.csv", record.table), ("summary.json", record.summary)) if record is not None else ():
        if held and (directory / name).is_file() and files.digest(directory / name) != held:
            drawn = "is drawn as it is now" if name == "table.csv" else "is made anew from the table"
            terminal.say(f"warning: {directory / name} was changed after its run, and {drawn}")
            return True
    return False


def leaves(options: Any, *, extending: bool = True) -> dict[str, Any]:
    """Options that determine the measurement, by dotted name, as JSON.

    Args:
        options: the dataclass of options.
        extending: whether those that only add points are among them.
    """
    return {
        name: json.loads(files.encode(value))
        for name, value, extends in _walk(options, "")
        if (extending or not extends) and name.partition(".")[0] not in contract.UNMEASURED
    }


def differing(options: Any, usual: Any | None) -> dict[str, Any]:
    """Options that differ from the usual ones. All options if there are no usual ones."""
    known = {} if usual is None else leaves(usual)
    return {name: value for name, value in leaves(options).items() if name not in known or known[name] != value}


def name(options: Any, usual: Any | None) -> str:
    """Folder name of a run, from the options that differ from usual. Options that only add points are left out."""
    lasting = leaves(options, extending=False)
    common = {entry.name for entry in fields(contract.Config)}
    parts = [
        (key in common, f"{key}={words(value)}") for key, value in differing(options, usual).items() if key in lasting
    ]
    return as_file_name("+".join(text for _, text in sorted(parts, key=lambda part: part[0]))) or DEFAULT


def as_file_name(text: str) -> str:
    """Text as a file name. Special characters are replaced, and a long name is cut and ends in a hash."""
    if not text:
        return ""
    safe = re.sub(r"[^\w.,=+-]+", "-", text.replace(":", "-"))
    short = safe.encode()[:LONGEST].decode(errors="ignore")
    if short == text.replace(":", "-") and short.strip(".-") == short:
        return short
    short = safe.encode()[: LONGEST - 9].decode(errors="ignore").strip(".-")
    return f"{short}-{files.fingerprint(text)[:8]}"


def words(value: Any) -> str:
    """A value of an option in words of the command line."""
    if isinstance(value, list):
        return ",".join(map(words, value))
    if isinstance(value, dict):
        return ",".join(f"{key}-{words(entry)}" for key, entry in value.items())
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e6:
        return str(int(value))
    return value if isinstance(value, str) else files.encode(value)


def check(directory: Path, asked: dict[str, Any]) -> None:
    """Check that a folder holds no points measured with other options than the ones asked for; else InputError."""
    record = read(directory)
    for key in record.asked | asked if record is not None and record.collects else ():
        old, new = (files.encode(each.get(key)) for each in (record.asked if record else {}, asked))
        if old != new:
            raise InputError(
                f"{key} must be {old} as in the results that {directory} holds, got {new}; "
                "give another output, or overwrite=true to set them aside"
            )


def is_joined(directory: Path) -> bool:
    """True if a folder holds joined results."""  # both are False for a name too long, too
    return os.path.exists(directory / JOINED) and not os.path.exists(directory / "ledger")


def check_joined(target: Path) -> None:
    """Check that a folder for joined results holds no run, whose results they would replace; else InputError."""
    if os.path.exists(target / "ledger"):
        raise InputError(f"output must be a folder that holds no run, got {target}; give another output")
    check_own(target)


def check_own(directory: Path) -> None:
    """Check that a folder holds no file by the name of a result that no run has written; else InputError."""
    if any(os.path.lexists(directory / mark) for mark in (RECORD, JOINED, "ledger", locks.NAME)):
        return
    if others := [name for name in RESULTS if os.path.lexists(directory / name) and not (directory / name).is_dir()]:
        raise InputError(
            f"output must leave the files of others, got {directory}, whose {', '.join(others)} no run has written"
        )


def is_default_folder(directory: Path, conf: str, folder: str) -> bool:
    """True if a directory is the default folder of a run of a configuration."""
    return directory.parts[-3:] == ("outputs", conf, folder)


def default_folder(conf: str, folder: str) -> Path:
    """Default folder of a run: outputs/CONF/FOLDER below the current directory."""
    return Path(os.path.abspath("outputs")) / conf / folder


def _walk(options: Any, prefix: str) -> Any:
    for entry in fields(options):
        key, value = prefix + entry.name, getattr(options, entry.name)
        if is_dataclass(value):
            yield from _walk(value, f"{key}.")
        elif isinstance(value, dict) and value and all(map(is_dataclass, value.values())):
            for part, inner in value.items():
                yield from _walk(inner, f"{key}.{part}.")
        else:
            yield key, value, entry.metadata.get("extends", False)

"""Words of a command line: its overrides and flags, read before anything else is imported."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from experiments.contract import InputError

_FLAGS = {"-m": "sweep", "--multirun": "sweep", "-h": "help", "--help": "help", "--version": "version"}
_UNREADABLE = re.compile(r"(?!['\"\[{])(?!.*\$\{)[^,]*([=~()!#&;<>^'\"`\]\x00-\x1f]|[^\x00-\x7f])[^,]*", re.DOTALL)
"""Paths that Hydra takes only in quotes; not lists, mappings, interpolations and sweeps, which are left to it."""


def is_hydras(argv: Sequence[str]) -> bool:
    """True if a command line is for Hydra itself: its shell completion and its help."""
    return bool({"--hydra-help", "--info", "-i", "--shell-completion", "-sc"} & set(argv))


def split(argv: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Overrides and flags of a command line, in any order. `--key=value` is read as the override `key=value`.

    Raises:
        InputError: a word with a leading dash is no flag.
    """
    flags: dict[str, str] = {}
    words: list[str] = []
    rest = iter(argv)
    for word in rest:
        name, equals, value = word.partition("=")
        if name == "--config-dir":
            folder = Path(value if equals else next(rest, "")).absolute()
            if not (folder / "conf").is_dir():
                raise InputError(f"--config-dir must name a folder that holds a folder conf, got {folder}")
            flags["folder"] = str(folder)
        elif name in ("-c", "--cfg"):
            if (value if equals else next(rest, "")) != "job":
                raise InputError("--cfg must be followed by job, as in --cfg job")
            flags["show"] = "job"
        elif word in _FLAGS:
            flags[_FLAGS[word]] = word
        elif word.startswith("-") and not (word.startswith("--") and equals):
            known = "-m, --help, --cfg job, --config-dir DIR, --version"
            raise InputError(f"{word} must be one of the flags {known}; options are written key=value")
        elif (own := _user_experiment_folder(word.removeprefix("--"))) is not None:
            flags["folder"] = str(own)
            words.append(f"conf={own.name}")
        else:
            words.append(override(word.removeprefix("--")))
    return words, flags


def _user_experiment_folder(word: str) -> Path | None:
    """The folder of a user-defined experiment that `conf=./folder` names, None for any other word."""
    key, _, value = word.partition("=")
    folder = Path(os.path.expanduser(value)).absolute()
    return folder if key == "conf" and os.sep in value and (folder / "conf").is_dir() else None


def override(word: str) -> str:
    """An override as Hydra reads it: Python's None is null, an output may hold any sign, a name of an entry a colon.

    `per_memory.dense:3.loads=[0.1]` and `per_memory../mine.py:cubic.loads=[0.1]` set or add the entry: Hydra takes no
    colon in a key, but one in a mapping.
    """
    key, _, value = word.partition("=")
    entry = re.fullmatch(r"[+]{0,2}(\w+)\.(.+:.+)\.(\w+)", key)
    if entry:
        group, name, option = entry.groups()
        return f"+{group}={{{as_key(name)}:{{{option}:{'null' if value == 'None' else value}}}}}"
    if value == "None":
        return f"{key}=null"
    if key == "conf":
        return word.removesuffix(".yaml")
    if key == "output" and _UNREADABLE.fullmatch(value):
        return f"output={quote(value)}"
    return word


def as_key(text: str) -> str:
    """Text as a key of a mapping on Hydra's command line."""
    return re.sub(r"[\\()\[\]{}:=, \t]", r"\\\g<0>", text)


def quote(text: str) -> str:
    """Text as a value on Hydra's command line, whatever signs it holds."""
    escaped = re.sub(r"(\\*)('|$)", lambda match: match[1] * 2 + match[2].replace("'", "\\'"), text)
    return f"'{escaped}'"

"""The text of `--help`: the experiments there are, and the options of the one on the line with the values they have."""

import dataclasses
import re
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from experiments import contract
from experiments.runner import compose, errors, session
from experiments.system import files

_HEAD = """\
usage: python -m experiments.run conf=NAME [key=value ...] [-m]

Measures, saves and draws an experiment. An interrupted run resumes when the same command is repeated."""
_FOOT = """\
Flags, anywhere on the line:
  -m, --multirun     run every combination of values, as in -m conf=capacity seed=0,1
  -h, --help         this text; with conf=NAME also the options of that experiment
  --cfg job          print the options that a run would have, and stop
  --config-dir DIR   a folder that holds a folder conf with more choices
  --version          print the version

Values: key=[1,2,3] is a list, key=null is none, key='a b' keeps special signs.
Results: table.csv, summary.json, config.yaml and figure.svg, .png, .pdf in outputs/NAME/<options that differ>, whose
table gathers the points of all commands with these options, or in output=DIR, whose table holds those of the last one.
Results that depend on other options than a list of points are refused there, unless overwrite=true moves them aside.
`python -m experiments.plot DIR` draws the figure again.
Tab completion: eval "$(hopfield -sc install=bash)" for this shell; -sc install=zsh and -sc install=fish for others."""
_GROUPS = {
    "capacity": "Capacity",
    "dynamics": "Retrieval and dynamics",
    "layers": "Attention and layers",
    "checks": "Checks and costs",
    "": "Further ones",
}
"""Headings of the groups that the `# @group` line of a YAML file names; those of other folders need none."""
_COLUMN = 34
_NARROWEST = 60
"""Columns that lines have at least, however narrow a terminal is."""


def text(words: Sequence[str]) -> str:
    """The help for a command line, within a session.

    Args:
        words: its overrides; with `conf=` among them, the options of that experiment are listed as the words set them.

    Raises:
        InputError: an override is wrong.
    """
    if not any(word.startswith("conf=") for word in words):
        last = "Options of an experiment: python -m experiments.run conf=NAME --help"
        return "\n\n".join([_HEAD, *_choices(session.choices()), last, _FOOT])
    config = compose.composed(words)
    name = config.hydra.runtime.choices["conf"]
    options = f"Options of conf={name}:\n" + "\n".join(_options(config))
    return "\n\n".join([_HEAD, *_choices([name]), options, _FOOT])


def _choices(names: Sequence[str]) -> Iterator[str]:
    """The table of configurations, a part for each group."""
    width = max(map(len, names), default=0)
    groups: dict[str, list[str]] = {group: [] for group in _GROUPS}
    for name in names:
        group, headline = _about(session.source(name))
        about = textwrap.shorten(headline, _width() - width - 9, placeholder=" ...")
        groups[group if group in groups else ""].append(f"  conf={name:<{width}}  {about}".rstrip())
    for group, lines in groups.items():
        if lines:
            yield "\n".join([f"{_GROUPS[group]}:", *lines])


def _width() -> int:
    """Number of columns of the terminal, or of a page if the output is not a terminal."""
    return max(_NARROWEST, shutil.get_terminal_size((120, 24)).columns)


def _about(path: Path | None) -> tuple[str, str]:
    """Group of a YAML file and the first sentence of its comment. The group is empty if the file names none."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path else []
    comments = [line.removeprefix("#").strip() for line in lines if line.startswith("#")]
    group = next((line.split()[1] for line in comments if re.match(r"@group\s+\S", line)), "")
    text = " ".join(line for line in comments if not line.startswith("@"))
    return group, re.split(r"(?<=[.;])\s", text, maxsplit=1)[0].rstrip(".;")


def _options(config: DictConfig) -> Iterator[str]:
    """Lines of every option: its value, values of single entries, allowed values and description.

    Those of every experiment stand behind its own, W&B's last.
    """
    common = {entry.name: entry.name == "wandb" for entry in dataclasses.fields(contract.Config)}
    place = lambda option: (option[0].partition(".")[0] in common, common.get(option[0].partition(".")[0], False))
    options = sorted(errors.leaves(OmegaConf.get_type(config)), key=place)
    indent = " " * _COLUMN
    for key, hint, about in options:
        value = OmegaConf.select(config, key)
        setting = f"  {key}={_command_line_value(value)}"
        entries = _of_entries(config, key) if value is None else ""
        text = "; ".join(filter(None, (entries, errors.describe(hint), about)))
        lines = textwrap.wrap(text, _width(), initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
        if len(setting) < _COLUMN and lines:
            lines[0] = setting.ljust(_COLUMN) + lines[0][_COLUMN:]
        else:
            yield setting
        yield from lines


def _of_entries(config: DictConfig, key: str) -> str:
    """Values of an option that is left to the entries of a mapping, as to single memories: those that they have."""
    by_value: dict[str, list[str]] = {}
    schema: Any = OmegaConf.get_type(config)
    for field in dataclasses.fields(schema):
        entries = config[field.name] if field.metadata.get("entries_of") else {}
        names = config[field.metadata["entries_of"]] if entries else None
        for name, entry in entries.items():
            value = OmegaConf.select(entry, key)
            if value is not None and (names is None or name in names):
                by_value.setdefault(_command_line_value(value).replace(",", ", "), []).append(str(name))
    return ", ".join(f"{value} for {' and '.join(names)}" for value, names in by_value.items())


def _command_line_value(value: Any) -> str:
    """A value as it is written on the command line."""
    if isinstance(value, Enum):
        return value.name
    if OmegaConf.is_dict(value):
        return f"{{{','.join(map(str, value))}}}"
    if OmegaConf.is_list(value):
        return files.encode(OmegaConf.to_container(value, enum_to_str=True)).replace('"', "")
    return value if isinstance(value, str) else files.encode(value)

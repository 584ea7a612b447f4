"""The text of `--help`: the experiments there are, and the options of the one on the line with the values they have."""

import re
import textwrap
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from experiments.runner import compose, errors, session
from experiments.shared import files

_HEAD = """\
usage: python -m experiments.run conf=NAME [key=value ...] [-m]

Measures, saves and draws an experiment. A run that was stopped goes on where it was when it is started again."""
_FOOT = """\
Flags, anywhere on the line:
  -m, --multirun     run every combination of values, as in -m conf=capacity seed=0,1
  -h, --help         this text; with conf=NAME also the options of that experiment
  --cfg job          print the options that a run would have, and stop
  --config-dir DIR   a folder that holds a folder conf with more choices
  --version          print the version

Values: key=[1,2,3] is a list, key=null is none, key='a b' keeps special signs.
Results: table.csv, summary.json, config.yaml and figure.svg, .png, .pdf in outputs/NAME/<options that differ>, or in
output=DIR, where results of other options are refused unless overwrite=true moves them aside.
`python -m experiments.plot DIR` draws the figure again."""
_COLUMN = 34


def text(words: Sequence[str]) -> str:
    """The help for a command line, within a session.

    Args:
        words: its overrides; with `conf=` among them, the options of that experiment are listed as the words set them.

    Raises:
        InputError: an override is wrong.
    """
    parts = [_HEAD, "Experiments:\n" + "\n".join(_choices())]
    if any(word.startswith("conf=") for word in words):
        config = compose.composed(words)
        parts.append(f"Options of conf={config.hydra.runtime.choices['conf']}:\n" + "\n".join(_options(config)))
    else:
        parts.append("Options of an experiment: python -m experiments.run conf=NAME --help")
    return "\n\n".join([*parts, _FOOT])


def _choices() -> Iterator[str]:
    names = session.choices()
    width = max(map(len, names), default=0)
    for name in names:
        about = textwrap.shorten(_headline(session.source(name)), 100, placeholder=" ...")
        yield f"  conf={name:<{width}}  {about}".rstrip()


def _headline(path: Path | None) -> str:
    """The first sentence that a YAML file says about itself."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path else []
    comments = [line.removeprefix("#").strip() for line in lines if line.startswith("#") and "@package" not in line]
    return re.split(r"(?<=[.;])\s", " ".join(comments), maxsplit=1)[0].rstrip(".;")


def _options(config: DictConfig) -> Iterator[str]:
    """One line an option, W&B's last: its value, what it may be, what it is."""
    options = sorted(errors.leaves(OmegaConf.get_type(config)), key=lambda option: option[0].startswith("wandb."))
    for key, hint, about in options:
        setting = f"  {key}={_shown(OmegaConf.select(config, key))}"
        gap = " " * (_COLUMN - len(setting)) if len(setting) < _COLUMN else "\n" + " " * _COLUMN
        yield setting + gap + "; ".join(filter(None, (errors.describe(hint), about)))


def _shown(value: Any) -> str:
    """A value as it is written on the command line."""
    if isinstance(value, Enum):
        return value.name
    if OmegaConf.is_dict(value):
        return f"{{{','.join(map(str, value))}}}"
    if OmegaConf.is_list(value):
        return files.encode(OmegaConf.to_container(value, enum_to_str=True)).replace('"', "")
    return value if isinstance(value, str) else files.encode(value)

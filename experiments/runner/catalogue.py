"""The catalogue: configurations that `conf=` accepts, by group, read from the heads of their files."""

import re
import shutil
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path

from experiments.contract import ROOT

HEAD = """\
usage: hopfield conf=NAME [key=value ...] [-m]

Measures, saves and draws an experiment. An interrupted run resumes when the same command is repeated."""
FOOT = """\
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
`hopfield plot DIR` draws the figure again.
Tab completion: eval "$(hopfield -sc install=bash)" for this shell; -sc install=zsh and -sc install=fish for others."""
GROUPS = {
    "capacity": "Capacity",
    "dynamics": "Retrieval and dynamics",
    "layers": "Attention and layers",
    "checks": "Checks and costs",
    "": "Further ones",
}
"""Headings of the groups that the `# @group` line of a YAML file names; files of other folders need none."""
_NARROWEST = 60
"""Columns that lines have at least, however narrow a terminal is."""


def text(folder: Path | None) -> str:
    """All configurations, with a folder's that holds another `conf/`, and the flags."""
    places = [ROOT, *([] if folder is None else [folder])]
    found = {path.stem: path for place in places for path in (place / "conf").glob("*.yaml") if path.is_file()}
    last = "Options of an experiment: hopfield conf=NAME --help"
    return "\n\n".join([HEAD, *lines(dict(sorted(found.items()))), last, FOOT])


def lines(paths: Mapping[str, Path | None]) -> Iterator[str]:
    """The table of configurations, given by name with their files: a text for each group."""
    width = max(map(len, paths), default=0)
    groups: dict[str, list[str]] = {group: [] for group in GROUPS}
    for name, path in paths.items():
        group, headline = _about(path)
        about = textwrap.shorten(headline, columns() - width - 9, placeholder=" ...")
        groups[group if group in groups else ""].append(f"  conf={name:<{width}}  {about}".rstrip())
    for group, members in groups.items():
        if members:
            yield "\n".join([f"{GROUPS[group]}:", *members])


def columns() -> int:
    """Number of columns of the terminal, or of a page if the output is not a terminal."""
    return max(_NARROWEST, shutil.get_terminal_size((120, 24)).columns)


def _about(path: Path | None) -> tuple[str, str]:
    """Group of a YAML file and the first sentence of its comment. The group is empty if the file names none."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path else []
    comments = [line.removeprefix("#").strip() for line in lines if line.startswith("#")]
    group = next((line.split()[1] for line in comments if re.match(r"@group\s+\S", line)), "")
    text = " ".join(line for line in comments if not line.startswith("@"))
    return group, re.split(r"(?<=[.;])\s", text, maxsplit=1)[0].rstrip(".;")

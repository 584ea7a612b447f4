"""Report of a run or of several: one page with everything in it, that opens anywhere and asks nothing of a network.

The page is made by a template that escapes every text; panels come from the figure, drawn again by plotly.js, which
is packed into the page.
"""

import base64
import gzip
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from experiments.columns import Columns, find
from experiments.contract import Summary, Table
from experiments.figures import web
from experiments.figures.panel import Panel
from experiments.figures.sentences import columns, common, leading, told, with_error
from experiments.system import files

NAME = "report.html"
ASSETS = Path(__file__).parent / "assets"
ROWS = 400
"""Rows of a table that the page shows at most; table.csv has all of them."""


@dataclass(frozen=True)
class Story:
    """Text of a report beside its figure and table.

    Attributes:
        name: a word for its files.
        title, lead: its head and a sentence below.
        criteria: in words, what is measured and how it is judged.
        command: what makes it again.
        facts: names and values of all else: versions, hash of the science.
        differs: options that differ from the default, with their values.
        runs: name, link and cells of the runs it joins, below `run_columns`.
        frames: animated panels: title and frames, each an image as a data URI and a text.
        columns: meanings of the table's columns, where declared.
    """

    name: str
    title: str
    lead: str = ""
    criteria: str = ""
    command: str = ""
    facts: Sequence[tuple[str, str]] = ()
    differs: Sequence[tuple[str, str]] = ()
    run_columns: Sequence[str] = ()
    runs: Sequence[dict[str, Any]] = ()
    frames: Sequence[dict[str, Any]] = field(default_factory=list)
    columns: Columns | None = None


def write(path: Path, story: Story, panels: Sequence[Panel], table: Table, summary: Summary) -> None:
    """Write a report.

    Args:
        path: the file to write.
        story: what it tells.
        panels: panels of the figure.
        table: all rows.
        summary: what was made of them.
    """
    specs = [web.spec(panel) for panel in panels]
    frames = [part["frames"] for part in story.frames]
    text = (
        _environment()
        .get_template("report.html")
        .render(
            vars(story)
            | {
                "notes": summary.notes,
                "leading": leading(summary.estimates),
                "headlines": told(summary.estimates),
                "told": story.columns is not None,
                "columns": [(name, find(story.columns or {}, name)) for name in table.columns],
                "rows": [
                    ["" if value != value else with_error(value) for value in row]
                    for row in table.head(ROWS).itertuples(index=False)
                ],
                "shown": _extent(table),
                "data": {"name": story.name, "panels": specs, "frames": frames},
                "bundle": bundle(),
                "css": _asset("page.css"),
                "script": _asset("report.js"),
            }
        )
    )
    files.write_text(path, text)


def cell(title: str, summary: Summary, picture: str, link: str) -> str:
    """Light form of a report, as a cell of a notebook shows it: the numbers that come first, and the figure.

    Args:
        title: a line above.
        summary: what the numbers are of.
        picture: the figure, as SVG.
        link: where the whole report is, if it was kept.
    """
    encoded = base64.b64encode(picture.encode()).decode()
    about = {"title": title, "leading": leading(summary.estimates), "picture": encoded, "link": link}
    return _environment().get_template("cell.html").render(about)


def write_index(path: Path, title: str, lead: str, runs: Sequence[dict[str, Any]]) -> None:
    """Write a list of runs, each with name, link to its report, state, points, when, differs and headlines."""
    context = {"title": title, "lead": lead, "runs": runs, "css": _asset("page.css"), "script": _asset("report.js")}
    files.write_text(path, _environment().get_template("index.html").render(context))


def _extent(table: Table) -> str:
    if len(table) <= ROWS:
        return f"All {len(table)} rows."
    return f"The first {ROWS} of {len(table)} rows; table.csv holds all of them."


@cache
def _environment() -> jinja2.Environment:
    loader = jinja2.FileSystemLoader(ASSETS)
    made = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    made.globals |= {"columns_of": columns, "common_of": common}
    return made


@cache
def _asset(name: str) -> Markup:
    return Markup((ASSETS / name).read_text(encoding="utf-8"))


@cache
def bundle() -> str:
    """plotly.js, packed: it is the largest part of a page by far."""
    packed = gzip.compress((ASSETS / "plotly-cartesian.min.js").read_bytes(), 9, mtime=0)
    return base64.b64encode(packed).decode()

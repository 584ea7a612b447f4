"""The page on tables defines every column of the reports that the site shows."""

import dataclasses
import re
from pathlib import Path

import pytest

from experiments.runner import compose, registry, session

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "howto" / "tables.md").read_text(encoding="utf-8")
SECTIONS = {head: body for head, _, body in (part.partition("\n") for part in PAGE.split("\n## ")[1:])}
COMMON = SECTIONS["Columns of several experiments"]


def columns(report: str) -> list[str]:
    """Names in the head of a report's table of rows."""
    head = report.partition('id="rows"')[2].partition("</thead>")[0]
    return re.findall(r"<th>(.*?)</th>", head)


def defined(experiment: str) -> set[str]:
    """Columns that stand in the common section, in that of an experiment, or are options of it."""
    own = [body for head, body in SECTIONS.items() if experiment in head.split(", ")]
    named = set(re.findall(r"`(\w[\w.]*)`", "\n".join([COMMON, *own])))
    suffixed = {f"{name}{end}" for name in named for end in ("_low", "_high", "_stderr")}
    return named | suffixed | {field.name for field in dataclasses.fields(registry.options(experiment))}


@pytest.mark.parametrize("path", sorted((DOCS / "reports").glob("*.html")), ids=lambda path: path.stem)
def test_every_column_of_a_report_is_defined(path: Path) -> None:
    found = columns(path.read_text(encoding="utf-8"))
    with session.opened():
        (job,) = compose.jobs([f"conf={path.stem}"], sweep=False)
    assert len(found) > 3
    known = defined(job.experiment)
    assert [name for name in found if name not in known and re.sub(r"_\d+$", "_k", name) not in known] == []

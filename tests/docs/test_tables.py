"""The page on tables has a section for every experiment, and reports the site shows no column without a meaning."""

import re
from pathlib import Path

import pytest

from experiments.columns import find
from experiments.runner import compose, registry, session
from scripts.columns import written

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "howto" / "tables.md").read_text(encoding="utf-8")


def columns(report: str) -> list[str]:
    """Names in the head of a report's table of rows."""
    head = report.partition('id="rows"')[2].partition("</thead>")[0]
    return re.findall(r"<th(?: [^>]*)?>(.*?)</th>", head)


@pytest.mark.parametrize("path", sorted((DOCS / "reports").glob("*.html")), ids=lambda path: path.stem)
def test_every_column_of_a_report_is_declared(path: Path) -> None:
    found = columns(path.read_text(encoding="utf-8"))
    with session.opened():
        (job,) = compose.jobs([f"conf={path.stem}"], sweep=False)
    assert len(found) > 3
    declared = registry.columns(job.experiment)
    assert declared is not None
    assert [name for name in found if find(declared, name) is None] == []


def test_the_page_has_a_section_with_the_columns_of_every_experiment() -> None:
    sections = re.findall(r"^## (\w+)\n\n<!-- columns \1 -->$", PAGE, re.MULTILINE)
    assert sections == registry.names()
    assert written(PAGE) == PAGE, "python scripts/columns.py writes the tables"

"""Targets of links are there: files, make targets, extras to install, configurations."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if not {"node_modules", "_build", "gallery", "reference"} & set(page.parts)]
WRITTEN = ("docs/gallery/", "docs/reference/", "docs/benchmarks.md")
"""Pages written when the site is built."""


def links(text: str) -> Iterator[str]:
    """Targets of Markdown links, of pictures and of cards, other sites and anchors left out."""
    found = re.findall(r"\]\(([^)#\s]+)[^)]*\)|^```+\{(?:image|figure)\} (\S+)", text, re.MULTILINE)
    yield from (target for pair in found for target in pair if target and "://" not in target)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_that_a_page_points_to_exists(page: Path) -> None:
    for target in links(page.read_text(encoding="utf-8")):
        path = (page.parent / target).resolve()
        assert path.exists() or str(path.relative_to(ROOT)).startswith(WRITTEN), target


def test_the_page_on_contributing_links_to_pages_alone() -> None:
    """The site shows it from another folder, where links below docs/ are the ones that are changed."""
    text = PAGES[1].read_text(encoding="utf-8")
    assert list(links(text))
    assert all(target.startswith("docs/") and target.endswith(".md") for target in links(text))
    assert "{include} ../CONTRIBUTING.md\n:relative-docs: docs/\n" in (ROOT / "docs/contributing.md").read_text()


def test_every_make_target_extra_and_configuration_that_a_page_names_exists() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    confs = {path.stem for path in (ROOT / "conf").glob("*.yaml")}
    named = set(re.findall(r"(?:^|`)make ([a-z][a-z-]*)", text, re.MULTILINE))
    assert "docs" in named
    assert named <= targets
    assert set(re.findall(r"(?:hopfield|\.)\[([a-z]+)\]'", text)) <= extras.keys()
    asked = set(re.findall(r"\bconf=([a-z_]+)\b", text))
    assert "capacity" in asked
    assert asked - confs <= {"mine", "my_experiment"}


def test_every_public_part_of_the_library_has_a_line_that_says_what_it_holds() -> None:
    told = re.findall(r"^\| `([a-z_]+)(?:\.py|/)` \|", PAGES[1].read_text(encoding="utf-8"), re.MULTILINE)
    parts = {
        path.stem for path in (ROOT / "hopfield").iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    assert sorted(told) == sorted(part for part in parts if not part.startswith("_"))

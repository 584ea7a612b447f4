"""Pages say nothing that does not run: their blocks of Python are executed, their commands composed."""

import re
import shlex
from pathlib import Path

import jax
import pytest

from experiments.runner import compose, registry, session

DOCS = Path(__file__).resolve().parents[2] / "docs"


ALL = ["../README.md", "../CONTRIBUTING.md", *(str(page.relative_to(DOCS)) for page in sorted(DOCS.rglob("*.md")))]
ALL = [page for page in ALL if not page.startswith(("_build", "node_modules", "gallery", "reference", "benchmarks.md"))]
SKETCHES = {"../CONTRIBUTING.md"}
"""Pages whose Python shows a style and is not meant to be run."""


def blocks(page: str, language: str) -> list[str]:
    """Blocks of a page in a language; of Python also the cells that are executed when the site is built."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.mark.exhaustive
@pytest.mark.parametrize("page", [page for page in ALL if blocks(page, "python") and page not in SKETCHES])
def test_every_code_block_of_a_page_runs(page, tmp_path, monkeypatch):
    """In the order of the page. What has cells alone is executed when the site is built."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    with jax.numpy_rank_promotion("allow"):
        for block in blocks(page, r"(?:python|\{code-cell\})(?: ipython3)?"):
            exec(compile(block, page, "exec"), names)


def commands() -> list[str]:
    """Every command line that runs an experiment in the pages, in blocks and in the text."""
    found = []
    for page in ALL:
        text = (DOCS / page).read_text(encoding="utf-8").replace("\\\n", " ")
        found += re.findall(r"(?<![\w$.] )\bhopfield ((?:-m )?conf=[^`\n#]+)", text) + re.findall(r"`(conf=\w+)`", text)
    return sorted({line.strip(" ,.;)") for line in found})


@pytest.mark.slow
def test_every_command_of_the_pages_is_composed():
    """With what it asks for: options that exist, with values that they may have. Files of the reader's are left out.

    A configuration by itself has to be there: the tests of configurations compose each.
    """
    own = ("./mine", "./cubic", "PATH", "mine", "images.npz", "tiger.npz", "rectified", "W.npy")
    lines = [line for line in commands() if "--help" not in line and not any(word in line for word in own)]
    alone = [line for line in lines if re.fullmatch(r"conf=\w+", line)]
    assert all((DOCS.parent / "conf" / f"{line.removeprefix('conf=')}.yaml").is_file() for line in alone)
    assert len(lines) > len(alone) + 5
    for line in sorted(set(lines) - set(alone)):
        words = [word for word in shlex.split(line) if not word.startswith("hydra")]
        with session.opened():
            found = compose.jobs([word for word in words if word not in ("-m", "--multirun")], sweep="-m" in words)
        assert found, line
        for job in found:
            assert registry.load(job.experiment).points(job.config), line

"""The README and the page about sizes say nothing that does not run."""

import re
import shlex
from pathlib import Path

import jax
import pytest

from experiments.runner import compose, registry, session

DOCS = Path(__file__).resolve().parents[2] / "docs"


def blocks(page: str, language: str) -> list[str]:
    found = re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)
    assert found
    return found


@pytest.mark.parametrize("page", ["scale.md", "../README.md"])
def test_every_code_block_of_a_page_runs(page):
    with jax.numpy_rank_promotion("allow"):
        names: dict[str, object] = {}
        for block in blocks(page, "python"):
            exec(compile(block, page, "exec"), names)


def test_the_command_of_a_billion_patterns_asks_for_nine_numbers_of_them():
    """One pass over the most of them, which the README tells the time of; here it is composed and not run."""
    (block,) = blocks("scale.md", "bash")
    python, flag, module, *words = shlex.split(block.replace("\\\n", " "))
    assert (python, flag, module) == ("python", "-m", "experiments.run")
    with session.opened():
        (job,) = compose.jobs(words, sweep=False)
    points = registry.load(job.experiment).points(job.config)
    assert len(points) == 9
    assert max(point["patterns"] for point in points) == 10**9
    shared = {(point["ensemble"], point["neurons"], point["queries"], point["sample"]) for point in points}
    assert shared == {("generated", 32, 64, 0)}

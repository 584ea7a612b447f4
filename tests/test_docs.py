"""The pages about sizes say nothing that does not run."""

import re
from pathlib import Path

import jax
import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"


@pytest.mark.parametrize("page", ["scale.md"])
def test_every_code_block_of_a_page_runs(page):
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    with jax.numpy_rank_promotion("allow"):
        names: dict[str, object] = {}
        for block in blocks:
            exec(compile(block, page, "exec"), names)

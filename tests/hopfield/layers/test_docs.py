"""The page about the layers says nothing that does not run."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs" / "layers.md"


def test_every_code_block_of_the_page_runs():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) > 8
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, PAGE.name, "exec"), names)

"""Picture of the README, drawn by the README's own first block: `python scripts/readme_picture.py`."""

import contextlib
import re
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "_static" / "own_memory.svg"


def main() -> int:
    """Run the block, and keep the picture that it saves."""
    block = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        exec(compile(block[1], "README.md", "exec"), {"__name__": "readme"})
        (drawn,) = Path().glob("*.svg")
        shutil.copyfile(drawn, PICTURE)
    return 0


if __name__ == "__main__":
    sys.exit(main())

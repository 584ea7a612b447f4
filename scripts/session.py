"""Session of docs/howto/session.md: its commands run anew, and what they print written below them.

`python scripts/session.py` takes a minute or two; folders become those below `~`, and the number of cores is left out.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "howto" / "session.md"
_BLOCK = re.compile(r"(```console\n\$ (.*?)\n).*?(?=```)", re.DOTALL)


def main() -> int:
    """Run the commands of the page in a folder of their own, one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        home, tools = Path(folder, "home"), Path(folder, "bin")
        for place in (home, tools):
            place.mkdir()
        for name, words in (("hopfield", "-m hopfield "), ("python", "")):
            tool = tools / name
            tool.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} {words}"$@"\n', encoding="utf-8")
            tool.chmod(0o755)
        cache = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
        changes = {"HOME": str(home), "PATH": f"{tools}:{os.environ['PATH']}", "XDG_CACHE_HOME": cache}
        environment = os.environ | changes | {"WANDB_MODE": "disabled", "LC_ALL": "C.UTF-8"}

        def said(found: re.Match[str]) -> str:
            about = {"shell": True, "cwd": home, "env": environment, "text": True}
            ran = subprocess.run(found[2], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **about)
            lines = [line for line in ran.stdout.splitlines() if not re.fullmatch(r"\d+ cores?", line)]
            return found[1] + "".join(f"{line.replace(str(home), '~')}\n" for line in lines)

        PAGE.write_text(_BLOCK.sub(said, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

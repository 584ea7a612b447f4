"""Command: `hopfield conf=capacity` or `python -m hopfield conf=capacity`, wherever the library is installed.

The wheel keeps the experiments and their configurations inside this package, where no other package's `experiments`
and no folder of that name can stand in their place; a checkout has them beside it.
"""

import importlib
import os
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
HOME = PACKAGE / "_command" if (PACKAGE / "_command").is_dir() else PACKAGE.parent


COMMANDS = ("runs", "plot", "check", "new")
"""Words that stand first and name another command than that which runs experiments."""


def main() -> int:
    """Run the command on the words of the command line. Returns its exit code."""
    sys.path.insert(0, str(HOME))
    known = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(HOME), known)))  # for processes that launchers start
    if len(sys.argv) > 1 and sys.argv[1] in COMMANDS:
        name = sys.argv.pop(1)
        return importlib.import_module(f"experiments.{name}").process()
    return importlib.import_module("experiments.run").process()


if __name__ == "__main__":
    sys.exit(main())

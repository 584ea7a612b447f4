"""Command: `hopfield conf=capacity` or `python -m hopfield conf=capacity`, wherever the library is installed."""

import importlib
import os
import sys

from hopfield._door import HOME, lacking

COMMANDS = ("runs", "plot", "new")
"""Words that stand first and name another command than that which runs experiments."""


def main() -> int:
    """Run the command on the words of the command line. Returns its exit code."""
    sys.path.insert(0, str(HOME))
    known = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(HOME), known)))  # for processes that launchers start
    if sentence := lacking():
        sys.stderr.write(f"error: {sentence}\n")
        return 1
    name = sys.argv.pop(1) if len(sys.argv) > 1 and sys.argv[1] in COMMANDS else "run"
    return importlib.import_module(f"experiments.{name}").process()


if __name__ == "__main__":
    sys.exit(main())

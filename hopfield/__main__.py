"""Command: `hopfield conf=capacity` or `python -m hopfield conf=capacity`, wherever the library is installed."""

import sys

from hopfield import _door

COMMANDS = ("runs", "plot", "new")
"""Words that stand first and name another command than that which runs experiments."""


def main() -> int:
    """Run the command on the words of the command line. Returns its exit code."""
    try:
        command = _door.opened(sys.argv.pop(1) if len(sys.argv) > 1 and sys.argv[1] in COMMANDS else "run")
    except ImportError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return command()


if __name__ == "__main__":
    sys.exit(main())

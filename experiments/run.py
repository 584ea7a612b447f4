"""The command: `hopfield conf=capacity [key=value ...] [-m]`. `--help` describes the rest."""

import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.runner import boundary, catalogue, words
from experiments.system import terminal
from experiments.system.versions import version


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command on the given words, by default the command line's.

    Returns:
        0 if all went well, 1 if a run had to stop, 2 for input that cannot be run, 130 after Ctrl-C, 143
        after SIGTERM.
    """
    return boundary.run_command(lambda: _command(sys.argv[1:] if argv is None else list(argv)))


def process() -> int:
    """Run the command line of this process, which ends with the exit code returned."""
    return boundary.run_command(lambda: _command(sys.argv[1:]), final=True)


def _command(argv: Sequence[str]) -> int:
    """Carry out a command line. What `--version` and `--help` can do without is imported behind them."""
    overrides, flags = ([], {}) if words.is_hydras(argv) else words.split(argv)
    folder = Path(flags["folder"]) if "folder" in flags else None
    if "version" in flags:
        terminal.tell(f"hopfield {version('hopfield')}")
        return 0
    if "help" in flags and not any(word.startswith("conf=") for word in overrides):
        terminal.tell(*catalogue.text(folder).split("\n"))
        return 0
    if "help" in flags:
        from experiments.runner import help  # Hydra alone

        terminal.tell(*help.text(overrides, folder).split("\n"))
        return 0
    from experiments.runner import command  # JAX, pandas, Matplotlib

    return command.hydra_command(argv) if words.is_hydras(argv) else command.carry_out(overrides, set(flags), folder)


if __name__ == "__main__":
    sys.exit(process())

"""Run every published configuration and keep its figure: `python scripts/reproduce.py [NAME ...]`.

Results go to outputs/published/<name>, where a second run finds them and measures nothing again; each figure is copied
to docs/figures/<name>.svg, which is what the README shows, a small picture of it and the report to what the site shows,
and the numbers that docs/results.md quotes to docs/results.json.
"""

import sys
import time
from pathlib import Path

import quotes
import showcase

from experiments import run
from experiments.contract import InputError
from experiments.runner import boundary

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "docs" / "figures"
FIXED = ("conf", "output", "dry")
"""Options that the script sets itself, or without which there is nothing to keep."""


def conf_names() -> list[str]:
    """Names of the configurations in conf/."""
    return sorted(path.stem for path in (ROOT / "conf").glob("*.yaml"))


def reproduce(name: str, overrides: list[str], figures: Path) -> int:
    """Run one configuration and copy its figure. Returns the command's exit code."""
    output = ROOT / "outputs" / "published" / name
    begun = time.monotonic()
    code = run.main([f"conf={name}", f"output={output}", *overrides])
    if code == 0:
        if told := showcase.keep(name, output, figures):
            print(told)
        if figures == FIGURES:
            quotes.tell(f"conf={name}", output)
        print(f"{name}: {time.monotonic() - begun:.0f} s, {figures / name}.svg")
    return code


def main(argv: list[str] | None = None) -> int:
    """Reproduce the named configurations, or all; stops at the first that fails."""
    return boundary.run_command(lambda: _reproduce_all(argv))


def _reproduce_all(argv: list[str] | None) -> int:
    parser = boundary.Parser(description="Run published configurations and keep their figures.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(conf_names())} (default: all)")
    parser.add_argument("--figures", type=Path, default=FIGURES, help="folder for the figures (default: docs/figures)")
    parser.add_argument("--set", nargs="*", default=["wandb.mode=disabled"], metavar="KEY=VALUE", help="overrides")
    arguments = parser.parse_args(argv)
    for name in arguments.names:
        if name not in conf_names():
            raise InputError(f"NAME must be one of {', '.join(conf_names())}, got {name}")
    for word in arguments.set:
        if word.partition("=")[0] in FIXED:
            raise InputError(f"--set must leave {', '.join(FIXED)} as a published run has them, got {word}")
    if arguments.figures.exists() and not arguments.figures.is_dir():
        raise InputError(f"--figures must be a folder, got {arguments.figures}")
    for name in arguments.names or conf_names():
        if code := reproduce(name, arguments.set, arguments.figures):
            return code
    return 0


if __name__ == "__main__":
    sys.exit(boundary.run_command(lambda: _reproduce_all(None), final=True))

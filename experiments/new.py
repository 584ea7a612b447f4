"""The command `python -m experiments.new experiment|memory NAME`: starts a user-defined experiment or memory."""

import importlib.util
import keyword
import re
import string
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.contract import InputError
from experiments.runner import boundary, registry

TEMPLATES = Path(__file__).parent / "templates"
USAGE = """\
usage: python -m experiments.new experiment NAME     a folder NAME with an experiment that runs, to be changed
       python -m experiments.new memory NAME         a file NAME.py with a memory that runs, to be changed"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `experiments.new` on the given words (default: those of the command line). Returns the exit code."""
    return boundary.run_command(lambda: _write_template(sys.argv[1:] if argv is None else list(argv)))


def process() -> int:
    """Run the command line of this process, which ends with the exit code returned."""
    return boundary.run_command(lambda: _write_template(sys.argv[1:]), final=True)


def _write_template(words: Sequence[str]) -> int:
    if set(words) & {"-h", "--help"}:
        print(USAGE)
        return 0
    if len(words) != 2 or words[0] not in ("experiment", "memory"):
        raise InputError(f"new must be followed by experiment NAME or memory NAME, got {' '.join(words) or 'nothing'}")
    kind, name = words
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise InputError(f"NAME must be a word of small letters, digits and underscores, got {name}")
    if keyword.iskeyword(name):
        raise InputError(f"NAME must not be a word of Python's own, got {name}")
    if kind == "experiment" and name in (taken := registry.names()):
        raise InputError(
            f"NAME must not be that of an experiment that is there already, {', '.join(taken)}, got {name}"
        )
    target = Path(name) if kind == "experiment" else Path(f"{name}.py")
    if target.exists():
        raise InputError(f"NAME must be free, got {target}, which exists")
    if importlib.util.find_spec(name) is not None:
        raise InputError(f"NAME must not be that of a module, which it would stand in the way of, got {name}")
    source = TEMPLATES / kind
    for template in sorted(source.rglob("*.txt")):
        place = target if kind == "memory" else target / str(template.relative_to(source)).replace("NAME", name)
        place = place if kind == "memory" else place.with_suffix("")
        place.parent.mkdir(parents=True, exist_ok=True)
        text = string.Template(template.read_text(encoding="utf-8")).substitute(name=name)
        place.write_text(text, encoding="utf-8")
    if kind == "memory":
        print(f"{target}: python -m experiments.run conf=capacity 'memories=[./{target}:{name}]' 'neurons=[50]'")
    else:
        print(f"{target}: python -m experiments.run conf=./{name}\n       python -m experiments.check ./{name}")
    return 0


if __name__ == "__main__":
    sys.exit(process())

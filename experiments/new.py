"""The command `hopfield new KIND NAME`: starts something user-defined from a file that runs.

`KINDS` is the table of what can be started. Their texts stand in `templates`: `<kind>.py.txt` becomes the file NAME.py,
a folder `<kind>/` the folder NAME; in them ${name} is NAME and ${Name} the same as the name of a class.
"""

import ast
import importlib.util
import keyword
import os
import re
import string
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from experiments.bounds import suggestion
from experiments.contract import InputError
from experiments.runner import boundary
from experiments.system import terminal

LONGEST = 32
"""Signs of a name at most: the lines of a file that name what it makes stay within 120."""
TEMPLATES = Path(__file__).parent / "templates"


class Kind(NamedTuple):
    """Kind of thing that can be started: what it is, and the commands that run what is made of it."""

    what: str
    commands: tuple[str, ...]


_RUN = "hopfield conf="
_CAPACITY = _RUN + "capacity 'memories=[./${name}.py:${name}]'"
_CAPACITY_OF = _RUN + "capacity 'memories=[classical]'"
_IMAGES = _RUN + "capacity_images 'memories=[classical,modern]'"
_TRAINING = _RUN + "training 'tasks=[wine]' seeds=2 members=1 epochs=5"
_LOADS = " 'neurons=[50]' 'loads=[0.1,0.15,0.2,0.25,0.3,0.4]'"
KINDS = {
    "memory": Kind("stored patterns with an energy", (_CAPACITY,)),
    "separation": Kind(
        "how scores become weights, in a memory and in layers",
        (
            _CAPACITY,
            _TRAINING + " 'layers=[lookup]' 'separations=[./${name}.py:${Name}]'",
        ),
    ),
    "similarity": Kind("how a state is compared with stored patterns, in a memory", (_CAPACITY,)),
    "space": Kind("where states live, in a memory", (_CAPACITY,)),
    "metric": Kind("a bilinear form that states and patterns are compared by, in a memory", (_CAPACITY,)),
    "corruption": Kind(
        "where queries start from", (_CAPACITY_OF + _LOADS + " 'corruption=[flip:0.1,./${name}.py:${name}:0.1]'",)
    ),
    "patterns": Kind(
        "what is stored, wherever an ensemble is asked for",
        (_IMAGES + " 'ensembles=[./${name}.py:${name}]' 'patterns=[5,11,21]'",),
    ),
    "layer": Kind("what an attention is read in, for conf=training", (_TRAINING + " 'layers=[./${name}.py:${name}]'",)),
    "optimiser": Kind("a transform of optax, for conf=training", (_TRAINING + " 'optimisers=[./${name}.py:${name}]'",)),
    "experiment": Kind(
        "a folder: options, points, measurement, summary, figure",
        (_RUN + "./${name}",),
    ),
}
USAGE = "\n".join(
    [
        "usage: hopfield new KIND NAME    NAME.py, or a folder NAME, that runs and is to be changed",
        *(f"       {kind:<12}{entry.what}" for kind, entry in KINDS.items()),
    ]
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run `hopfield new` on the given words (default: the command line's). Returns the exit code."""
    return boundary.run_command(lambda: _write_template(sys.argv[1:] if argv is None else list(argv)))


def process() -> int:
    """Run the command line of this process, which ends with the exit code returned."""
    return boundary.run_command(lambda: _write_template(sys.argv[1:]), final=True)


def _write_template(words: Sequence[str]) -> int:
    if set(words) & {"-h", "--help"}:
        terminal.tell(*USAGE.split("\n"))
        return 0
    if len(words) != 2 or words[0] not in KINDS:
        near = suggestion(words[0], KINDS) if words and words[0] not in KINDS else ""
        got = f"{' '.join(words) or 'nothing'}{near}"
        raise InputError(f"new must be followed by one of {', '.join(KINDS)} and a NAME, got {got}")
    kind, name = words
    _check_name(kind, name)
    names = {"name": name, "Name": name.title().replace("_", "")}
    target, texts = _texts(kind, name, names)
    if os.path.lexists(target):
        raise InputError(f"NAME must be free, got {target}, which exists")
    if importlib.util.find_spec(name) is not None:
        raise InputError(f"NAME must not be that of a module, which it would stand in the way of, got {name}")
    with tempfile.TemporaryDirectory(prefix=".hopfield-", dir=Path()) as draft:  # whole, or not there
        for place, text in texts.items():
            Path(draft, place).parent.mkdir(parents=True, exist_ok=True)
            Path(draft, place).write_text(text, encoding="utf-8")
        os.rename(Path(draft, target), target)
    commands = [string.Template(command).substitute(names) for command in KINDS[kind].commands]
    terminal.tell(f"{target}: {commands[0]}", *(" " * 7 + command for command in commands[1:]))
    return 0


def _check_name(kind: str, name: str) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise InputError(f"NAME must be a word of small letters, digits and underscores, got {name}")
    if len(name) > LONGEST:
        raise InputError(f"NAME must have at most {LONGEST} signs, got {len(name)}")
    if keyword.iskeyword(name):
        raise InputError(f"NAME must not be a word of Python's own, got {name}")
    if kind == "experiment" and name in (taken := sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*"))):
        raise InputError(f"NAME must not be that of something in experiments, {', '.join(taken)}, got {name}")


def _texts(kind: str, name: str, names: dict[str, str]) -> tuple[Path, dict[Path, str]]:
    """The file or folder that is made, and every file of it with its text."""
    source = TEMPLATES / f"{kind}.py.txt"
    if source.is_file():
        target, places = Path(f"{name}.py"), {Path(f"{name}.py"): source}
        if name in _used(source):
            raise InputError(f"NAME must not be a name that its file uses for something else, got {name}")
    else:
        target, source = Path(name), TEMPLATES / kind
        inner = {path: str(path.relative_to(source)).replace("NAME", name) for path in sorted(source.rglob("*.txt"))}
        places = {(target / place).with_suffix(""): path for path, place in inner.items()}
    texts = {place: string.Template(path.read_text(encoding="utf-8")) for place, path in places.items()}
    return target, {place: text.substitute(names) for place, text in texts.items()}


def _used(template: Path) -> set[str]:
    """Names that the code of a template uses besides the one that is put in."""
    tree = ast.parse(string.Template(template.read_text(encoding="utf-8")).substitute(name="_", Name="_"))
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    imported = {alias.asname or alias.name for node in imports for alias in node.names}
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return imported | defined | {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


if __name__ == "__main__":
    sys.exit(process())

"""The walk through a run names files and names that are there."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.source_code import ROOT, tree_of

PAGE = (ROOT / "docs/howto/walk.md").read_text(encoding="utf-8")
ROWS = [line.split(" | ")[0].removeprefix("| ") for line in PAGE.splitlines() if line.startswith("| `")]


def file_of(token: str, named: list[Path]) -> Path:
    """A file by its path, or by the end of the path of one that was named before or lies beside one."""
    near = [path for path in named if path.as_posix().endswith(f"/{token}")]
    beside = [path.parent / token for path in named if (path.parent / token).is_file()]
    return next(iter([*near, *beside]), ROOT / token)


def defined(path: Path) -> set[str]:
    """Functions, classes, their methods as `Class.method`, and names that a file gives values to."""
    found = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{each.name}" for each in node.body if isinstance(each, ast.FunctionDef)}
            found |= {f"{node.name}.{each.target.id}" for each in node.body if _is_field(each)}
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


def _is_field(node: ast.stmt) -> bool:
    return isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)


def used(path: Path) -> set[str]:
    """Names that a file calls, as written there."""
    return {ast.unparse(node.func) for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call)}


def steps() -> Iterator[tuple[Path, str, bool]]:
    """File, name and whether the file only calls it, of every row of the two tables."""
    named: list[Path] = []
    for row in ROWS:
        for part in row.split("; "):
            file, *names = re.findall(r"`([^`]+)`", part.partition(": ")[0])
            path = file_of(file, named)
            named.append(path)
            yield path, "", False
            yield from ((path, name, False) for name in names)
            yield from ((path, name, True) for name in re.findall(r"`([^`]+)`", part.partition(": ")[2]))


@pytest.mark.parametrize(("path", "name", "called"), list(dict.fromkeys(steps())), ids=lambda value: str(value)[-40:])
def test_a_step_names_what_is_there(path: Path, name: str, called: bool) -> None:
    assert path.is_file()
    assert not name or name in (used(path) if called else defined(path))


def test_files_that_are_told_of_are_there() -> None:
    named = [path for path, *_ in steps()]
    told = re.findall(r"`([\w/]+\.py)`", PAGE)
    assert len(set(told)) > 20
    assert all(file_of(token, named).is_file() for token in told)


def test_names_in_files_that_are_told_of_are_there() -> None:
    """As `draws.TRACED`: the stem of a file of the walk before the point."""
    files = {path.stem: path for path, *_ in steps()} | {"config": ROOT / "experiments/capacity/config.py"}
    told = [token.split(".") for token in re.findall(r"`([a-z_]+\.\w+)", PAGE)]
    names = [(files[stem], name) for stem, name in told if stem in files and name not in ("py", "csv", "json")]
    assert {name for _, name in names} >= {"TRACED", "columns_of"}
    assert [(path, name) for path, name in names if name not in defined(path)] == []

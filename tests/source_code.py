"""Readers of the repository's own source: its files, what they import and what they call."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = sorted((ROOT / "hopfield").rglob("*.py"))
EXPERIMENTS = sorted((ROOT / "experiments").rglob("*.py"))
SOURCES = [*LIBRARY, *EXPERIMENTS, *sorted((ROOT / "scripts").rglob("*.py"))]
TESTS = sorted((ROOT / "tests").rglob("*.py"))


def name_of(path: Path) -> str:
    """Dotted name of a module of this repository."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


class Import(NamedTuple):
    """One imported module and the names taken from it (none for `import module`)."""

    module: str
    names: tuple[str, ...]
    line: int


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


@cache
def imports(path: Path) -> tuple[Import, ...]:
    """Every import in a file, also those inside functions; `from package import module` counts as package.module."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[Import]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, (), node.lineno) for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            package = name_of(path.parents[node.level - 1] / "__init__.py") if node.level else ""
            module = ".".join(part for part in (package, node.module) if part)
            for alias in node.names:
                inner = ROOT.joinpath(*module.split("."), alias.name)
                found = inner.is_dir() or inner.with_suffix(".py").is_file()
                yield Import(f"{module}.{alias.name}" if found else module, (alias.name,), node.lineno)


@cache
def located(path: Path) -> tuple[tuple[str, int], ...]:
    """Pattern and line of every module that a file imports by a string: `import_module(f"{__name__}.{name}")`.

    What is put into a string stands for any one word, a name of the file's own for its text. A string that begins with
    a word put in is none of this repository's.
    """
    constants = {"__name__": name_of(path)} if path.is_relative_to(ROOT) else {}
    for node in tree_of(path).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            constants |= {target.id: node.value.value for target in node.targets if isinstance(target, ast.Name)}

    def pattern(node: ast.expr) -> str | None:
        if isinstance(node, ast.Constant):
            return re.escape(str(node.value))
        if isinstance(node, ast.FormattedValue):
            return pattern(node.value) or r"[^.]+"
        if isinstance(node, ast.Name) and node.id in constants:
            return re.escape(constants[node.id])
        return "".join(pattern(part) or "" for part in node.values) if isinstance(node, ast.JoinedStr) else None

    found = []
    for node in ast.walk(tree_of(path)):
        called = ast.unparse(node.func).split(".")[-2:] if isinstance(node, ast.Call) else []
        if isinstance(node, ast.Call) and node.args and called[-1:] in (["import_module"], ["__import__"]):
            found.append((pattern(node.args[0]), node.lineno))
    return tuple((text, line) for text, line in found if text and not text.startswith("[^.]+"))


def offenders(paths, forbidden) -> list[str]:
    """'file:line module' of every import that `forbidden(module)` objects to."""
    return [
        f"{path.relative_to(ROOT)}:{found.line} {found.module}"
        for path in paths
        for found in imports(path)
        if forbidden(found.module)
    ]


def inside(module: str, *packages: str) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def calls(path: Path) -> Iterator[tuple[str, int]]:
    """Dotted name and line of every call of a plain name."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            yield ast.unparse(node.func), node.lineno

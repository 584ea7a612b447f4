"""Readers of the repository's own source: its files, what they import and what they call."""

import ast
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
    """Dotted name and line of every call, as far as it is a plain name."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            yield ast.unparse(node.func), node.lineno

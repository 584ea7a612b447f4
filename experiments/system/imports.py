"""Imports of user-defined code: the files beside it that a Python file imports, on which its numbers depend as well."""

import ast
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

OURS = ("hopfield", "experiments")
"""Packages whose version is known, so that their files need not be read."""


def with_imports(paths: Sequence[Path]) -> list[Path]:
    """Given files plus every local Python file they import, directly or not.

    Local are their folders, their packages and the working folder. What is installed beside a package has a version;
    what is imported by a name that is computed is not seen.
    """
    found = {path.resolve(): path for path in paths}
    waiting = list(found)
    while waiting:
        for place in _imported_files(waiting.pop()):
            if place not in found:
                found[place] = place
                waiting.append(place)
    return list(found.values())


def _imported_files(file: Path) -> Iterator[Path]:
    """Files that one file names in its imports."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):  # told where the code is run
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _absolute(file, alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            module = node.module.split(".") if node.module else []
            for alias in node.names:  # a module of the package, or a name in it
                if node.level:
                    yield from _modules_on_path(
                        file.parents[min(node.level, len(file.parents)) - 1], [*module, alias.name]
                    )
                else:
                    yield from _absolute(file, [*module, alias.name])


def _absolute(file: Path, names: list[str]) -> Iterator[Path]:
    if names[0] in OURS:
        return
    top = file.parent
    while (top / "__init__.py").is_file():
        top = top.parent
    installed = {Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib", "stdlib")}
    for folder in dict.fromkeys((file.parent, top, Path.cwd())):
        own = folder == top and file.relative_to(top).parts[0] in (names[0], f"{names[0]}.py")
        if own or folder not in installed:
            yield from _modules_on_path(folder, names)


def _modules_on_path(folder: Path, names: list[str]) -> Iterator[Path]:
    """Modules and packages on the way to a dotted name."""
    for name in names:
        for place in (folder / f"{name}.py", folder / name / "__init__.py"):
            if place.is_file():
                yield place.resolve()
        folder = folder / name

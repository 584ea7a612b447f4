"""Imports of code: the files that a Python file imports, on which its numbers depend as well, and what they mean."""

import ast
import importlib.util
import sysconfig
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

OURS = ("hopfield", "experiments")
"""Packages of this project, whose code is recorded as a whole."""
_STANDARD = Path(sysconfig.get_path("stdlib")).resolve()


def meaning(text: bytes, roots: Collection[str] = (), *apart: str) -> Any:
    """Code as nested lists that are the same for every Python, without comments, layout and docstrings.

    What is no Python, a file of data say, is given back.

    Args:
        text: the code.
        roots: names in it: it is then what they use, directly or not.
        apart: names whose definitions are left out.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return text.hex()
    return _meaning(_used(tree, set(roots), set(apart)) if roots else tree)


def _used(tree: ast.Module, wanted: set[str], apart: set[str]) -> list[ast.stmt]:
    """Statements of a module that define names, or what these use, directly or not, and those that define nothing."""
    defined = {statement: _defined(statement) for statement in tree.body if not _is_text(statement)}
    kept = {statement for statement, names in defined.items() if not names}
    while more := {statement for statement, names in defined.items() if names & wanted - apart} - kept:
        kept |= more
        wanted = wanted | {node.id for each in kept for node in ast.walk(each) if isinstance(node, ast.Name)}
    return [statement for statement in tree.body if statement in kept]


def _defined(statement: ast.stmt) -> set[str]:
    """Names that a statement of a module gives a meaning to."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.partition(".")[0] for alias in statement.names}
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _meaning(node: Any) -> Any:
    if isinstance(node, list):
        return [_meaning(each) for each in node]
    if not isinstance(node, ast.AST):
        return repr(node)
    parts = {name: value for name, value in ast.iter_fields(node) if value not in (None, []) and name != "ctx"}
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(node):
        parts["body"] = node.body[1:]
    return [type(node).__name__, *([name, _meaning(value)] for name, value in parts.items())]


def with_imports(paths: Sequence[Path], wanted: Callable[[Path], bool] = lambda path: True) -> list[Path]:
    """Given files plus every local Python file they import, directly or not.

    Local are their folders, their packages, the working folder and packages that are installed to be edited. What is
    installed as a copy has a version; what is imported by a name that is computed is not seen.
    """
    found = {path.resolve(): path for path in paths}
    waiting = list(found)
    while waiting:
        for place in _imported_files(waiting.pop()):
            if place not in found and wanted(place):
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
    top = file.parent
    while (top / "__init__.py").is_file() or (top.parent / "__init__.py").is_file():
        top = top.parent
    if names[0] in OURS and file.relative_to(top).parts[0] != names[0]:
        return
    for folder in dict.fromkeys((file.parent, top, Path.cwd(), *_editable(names[0]))):
        own = folder == top and file.relative_to(top).parts[0] in (names[0], f"{names[0]}.py")
        if own or not _is_installed(folder):
            yield from _modules_on_path(folder, names)


def _is_installed(folder: Path) -> bool:
    """Whether what lies in a folder was copied there by an installer, or belongs to Python."""
    return folder.is_relative_to(_STANDARD) or bool({"site-packages", "dist-packages"} & set(folder.parts))


def _editable(name: str) -> Iterator[Path]:
    """Folder of a top-level module, wherever it is found; nothing is imported."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):  # it stands half imported, say
        return
    if spec is not None and spec.origin is not None and spec.has_location:
        origin = Path(spec.origin).resolve()
        yield origin.parents[1] if spec.submodule_search_locations is not None else origin.parent


def _modules_on_path(folder: Path, names: list[str]) -> Iterator[Path]:
    """Modules and packages on the way to a dotted name."""
    for name in names:
        for place in (folder / f"{name}.py", folder / name / "__init__.py"):
            if place.is_file():
                yield place.resolve()
        folder = folder / name

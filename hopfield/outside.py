"""Objects from outside the package, wherever one is chosen by name: from a file, from another package, or plugged in.

    ./file.py:name           what a Python file defines
    package.module:name      what an importable module defines
    name                     an entry point of another package in the group hopfield.<kind>
    name                     what `offer` was given in this process, as a function of a notebook

each with `:parameter` behind it where the object takes one. Code is run only where a person has named it so, and never
because of what a file of data holds.
"""

import contextlib
import hashlib
import importlib
import importlib.util
import os
import re
import stat
import sys
import time
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from hopfield._arguments import instance, one_of
from hopfield._content import Contents, contents_of

KINDS = ("memories", "similarities", "separations", "spaces", "corruptions", "datasets", "layers", "optimisers")
"""Kinds of parts that other packages may bring, each in a group of entry points of its own."""
IMPORTED = time.time()
"""When this library was imported, in seconds: files that are younger are not the code that runs."""
LONGEST = 400
"""Characters of a sentence that other code may say."""
_FILE = re.compile(r"(?P<module>.+\.py):(?P<name>[^:]+)(?::(?P<parameter>.*))?")
_MODULE = re.compile(r"(?P<module>[A-Za-z_]\w*(?:\.\w+)+):(?P<name>[A-Za-z_]\w*)(?::(?P<parameter>.*))?")


class Outside(NamedTuple):
    """Object that was found, its module, its name there, and the text after the last colon.

    Example:
        >>> from hopfield import outside
        >>> outside.find("memories", "hopfield.memories.dense:dense:3").parameter
        '3'
    """

    value: Any
    module: ModuleType
    name: str
    parameter: str | None


SAID = ("SCALING", "ENSEMBLE", "INTEGER_FIELDS", "DRAW", "PARAMETER")
"""Names in the module of an object that say how it is measured."""
_OFFERED: dict[tuple[str, str], Outside] = {}
"""Parts given as Python objects, by kind and name."""


def name_of(function: Any) -> str:
    """Name by which an object given in Python is found: its own, or its class's."""
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def offer(kind: str, function: Any) -> str:
    """Name of an object given in Python, by which it is found in this process from now on.

    Args:
        kind: one of `KINDS`.
        function: named by its `__qualname__`. What a file says beside a function, as SCALING, is read of the function's
            own attributes, or of its module.

    Example:
        >>> from hopfield import Memory, memories, outside
        >>> def mine(patterns, *, mask=None):
        ...     return Memory(patterns, 2.0, mask=mask)
        >>> mine.SCALING = memories.EXPONENTIAL
        >>> outside.offer("memories", mine), memories.find("mine")
        ('mine', Blueprint('mine', load ln M / N, spins))
    """
    name = name_of(function)
    home = sys.modules.get(str(getattr(function, "__module__", None)))
    said = {key: value for key, value in vars(home).items() if key.isupper()} if home is not None else {}
    module = ModuleType(f"_offered_{name}")
    vars(module).update(said | getattr(function, "__dict__", {}) | {name: function})
    _OFFERED[one_of("kind", kind, KINDS), name] = Outside(function, module, name, None)
    return name


def contents(spec: str) -> Contents | None:
    """Contents of the code that a specification names, of any kind, as it was loaded; None if it names none.

    Code that fails has no parts: the error is told to whoever asks for the part.
    """
    found: dict[str, Any] = {}
    packages = {"hopfield": False}
    if _FILE.fullmatch(spec) or _MODULE.fullmatch(spec):
        kinds = list(KINDS[:1])  # the same of any kind
    else:
        kinds = [kind for kind in KINDS if (kind, spec.partition(":")[0]) in _OFFERED.keys() | _entries(*sys.path)]
    for kind in kinds:
        with contextlib.suppress(ValueError):
            if (entry := find(kind, spec)) is not None:
                said = {name: value for name, value in vars(entry.module).items() if name in SAID}
                found |= {f"{name} of {kind}": value for name, value in said.items()} | {
                    f"{entry.name} of {kind}": entry.value
                }
                packages[entry.module.__name__] = True
    return contents_of(found, packages) if found else None


def find(kind: str, spec: str) -> Outside | None:
    """Object outside the package that a specification names, None for any other form of text.

    Args:
        kind: one of `KINDS`.
        spec: what was written.

    Raises:
        ValueError: another kind; the file, the module or the name in it is not there, or its code fails.
        TypeError: a specification that is no text.
    """
    one_of("kind", kind, KINDS)
    name, colon, parameter = instance("spec", spec, str).partition(":")
    if (kind, name) in _OFFERED:
        return _OFFERED[kind, name]._replace(parameter=parameter if colon else None)
    match = _FILE.fullmatch(spec) or _MODULE.fullmatch(spec)
    if match is None:
        for entry in entry_points(group=f"hopfield.{kind}", name=name):
            value = _loaded(entry, spec)
            return Outside(value, sys.modules[entry.module], entry.attr, parameter if colon else None)
        return None
    name, parameter = match["name"], match["parameter"]
    module = _file(match["module"], spec) if match.re is _FILE else _module(match["module"], spec)
    if not hasattr(module, name):
        public = ", ".join(sorted(key for key in vars(module) if not key.startswith("_"))) or "nothing"
        raise ValueError(f"{kind} must be defined where they are said to be, got {spec!r}, which defines {public}")
    return Outside(getattr(module, name), module, name, parameter)


def called(name: str, spec: str, function: Any, *args: Any, **options: Any) -> Any:
    """Result of code outside the package. Its exceptions become one sentence, except short ValueErrors of its own.

    Args:
        name: of the argument or option that was given.
        spec: what was written.
        function: the object that was found.
    """
    try:
        return function(*args, **options)
    except (Exception, SystemExit) as error:
        if isinstance(error, ValueError) and len(str(error)) <= LONGEST:
            raise
        what = f"{type(error).__name__} from {spec!r}: {' '.join(str(error).split())[:200]}"
        raise ValueError(f"{name} must be code that runs, got {what}") from error


def plugged(kind: str) -> tuple[str, ...]:
    """Names of the entry points of other packages, of one of `KINDS`. ValueError for another kind."""
    return tuple(sorted(entry.name for entry in entry_points(group=f"hopfield.{one_of('kind', kind, KINDS)}")))


def _loaded(entry: EntryPoint, spec: str) -> Any:
    try:
        return entry.load()
    except (Exception, SystemExit) as error:
        raise ValueError(_failure(f"{spec}, {entry.value} of another package,", error)) from error


def _module(name: str, spec: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise ValueError(_failure(spec, error)) from error


def _file(path: str, spec: str) -> ModuleType:
    place = Path(os.path.expanduser(path)).absolute()
    try:
        state = place.stat()
    except OSError as error:
        raise ValueError(f"{path} must be a readable Python file, got: {error.strerror}") from None
    if not stat.S_ISREG(state.st_mode):  # a pipe would be waited for
        raise ValueError(f"{path} must be a Python file, got something else")
    return _load_file(place, (state.st_size, state.st_mtime_ns), spec)


@cache
def _load_file(place: Path, state: tuple[int, int], spec: str) -> ModuleType:
    name = f"_outside_{hashlib.sha256(repr((str(place), state)).encode()).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    module_spec = importlib.util.spec_from_file_location(name, place)
    if module_spec is None or module_spec.loader is None:
        raise ValueError(f"{place} must be a Python file, got something else")
    module = importlib.util.module_from_spec(module_spec)
    sys.modules[name] = module
    try:
        module_spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise ValueError(_failure(spec, error)) from error
    return module


@cache  # what is installed is read once for all the words of a sweep
def _entries(*places: str) -> set[tuple[str, str]]:
    """Kinds and names of the entry points of other packages."""
    return {(kind, name) for kind in KINDS for name in plugged(kind)}


def _failure(spec: str, error: BaseException) -> str:
    return f"{spec} must be code that runs, got {type(error).__name__}: {' '.join(str(error).split())[:200]}"

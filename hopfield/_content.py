"""Contents of a function given in Python: a hash of its source and of all that it reads besides its arguments."""

import hashlib
import inspect
import sys
import types
from collections.abc import Iterator, Mapping, Set
from functools import partial
from typing import Any

import numpy as np


def digest(function: Any) -> str:
    """SHA-256 of a function: its source, its defaults, what it closes over and what it reads of its own module.

    Functions and classes of other modules count by their names: those of a library have a version.
    """
    home = sys.modules.get(str(getattr(inspect.unwrap(_function(function)), "__module__", None)))
    found = hashlib.sha256()
    for text in _texts(function, home, set()):
        found.update(text.encode() + b"\0")
    return found.hexdigest()


def _function(value: Any) -> Any:
    """The function behind a method or a partial application, an object itself otherwise."""
    while isinstance(value, partial | types.MethodType):
        value = value.func if isinstance(value, partial) else value.__func__
    return value


def _texts(value: Any, home: Any, seen: set[int]) -> Iterator[str]:
    """Texts that a value is told by: numbers of arrays, entries of containers, code of functions and classes."""
    if isinstance(value, str | bytes | int | float | complex | None):
        yield f"{type(value).__name__} {value!r}"
    elif id(value) in seen or isinstance(value, types.ModuleType):
        yield str(getattr(value, "__name__", "again"))
    elif hasattr(value, "__array__"):
        array = np.asarray(value)
        yield f"{array.dtype} {array.shape} {hashlib.sha256(array.tobytes()).hexdigest()}"
    else:
        seen.add(id(value))
        yield type(value).__qualname__
        for part in _parts(value, home):
            yield from _texts(part, home, seen)


def _parts(value: Any, home: Any) -> Iterator[Any]:
    """What an object is made of."""
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, Set):
        yield from sorted(map(repr, value))
    elif isinstance(value, list | tuple):
        yield from value
    elif isinstance(value, partial):
        yield from (value.func, value.args, value.keywords)
    elif isinstance(value, types.MethodType):
        yield from (value.__func__, value.__self__)
    elif inspect.isfunction(bare := inspect.unwrap(value)) or isinstance(value, type):
        yield f"{bare.__module__}.{bare.__qualname__}"
        if sys.modules.get(bare.__module__) is home:
            yield from _code(bare)
    else:
        yield from (type(value), getattr(value, "__dict__", repr(value)))


def _code(function: Any) -> Iterator[Any]:
    """Source of a function or class, and of a function the values that its names have."""
    code = getattr(function, "__code__", None)
    try:
        yield inspect.getsource(function)
    except (OSError, TypeError):  # typed into an interpreter that keeps no lines
        yield repr(code and code.co_code)
    if function.__name__ == "<lambda>":  # whose source is all of its line
        yield from (function.__code__.co_code, repr(function.__code__.co_consts))
    if not inspect.isfunction(function):
        return
    yield from (function.__defaults__, function.__kwdefaults__)
    for cell in function.__closure__ or ():
        yield cell.cell_contents
    for name in sorted(_names(function.__code__) & function.__globals__.keys()):
        yield from (name, function.__globals__[name])


def _names(code: types.CodeType) -> set[str]:
    """Names that code reads, that of functions inside it included."""
    inner = (part for part in code.co_consts if isinstance(part, types.CodeType))
    return {*code.co_names}.union(*map(_names, inner))

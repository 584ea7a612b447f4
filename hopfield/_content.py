"""Contents of what was loaded: a hash of functions, classes and values, and of all the code that they reach.

A function counts with its code, constants, defaults, closure and attributes and with the values that its names have; a
class with its members; an instance with its class and what it would be pickled as. What is installed, and the packages
that a caller knows, count by their names: they have versions. Hashes are the same in every process.
"""

import builtins
import copyreg
import dis
import functools
import hashlib
import importlib
import importlib.util
import sys
import sysconfig
import types
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from hopfield._numerics import is_traced

_ATOMS = (str, bytes, int, float, complex, bool, type(None), type(Ellipsis), type(NotImplemented), range)
_BY_NAME = (
    *(types.BuiltinFunctionType, types.WrapperDescriptorType, types.MethodDescriptorType, types.MethodWrapperType),
    *(types.GetSetDescriptorType, types.MemberDescriptorType, types.ClassMethodDescriptorType),
)
_DRAWING = (np.random.Generator, np.random.BitGenerator, np.random.RandomState)
_BOOKKEEPING = {
    *("__module__", "__dict__", "__weakref__", "__doc__", "__annotations__", "__abstractmethods__", "_abc_impl"),
    *("__dataclass_fields__", "__dataclass_params__", "__parameters__", "__orig_bases__", "__firstlineno__"),
    *(
        "__static_attributes__",
        "__annotate__",
        "__annotate_func__",
        "__annotations_cache__",
        "__conditional_annotations__",
    ),
    "__slotnames__",  # written by the first copy of an object
}
_COMPUTED = {"eval", "exec", "__import__"}
"""Names by which code is reached that nobody can see, besides `import_module`."""
_WHOLE = {"globals", "eval", "exec"}
"""Names by which any other name of a module may be read."""
_READING = {dis.opmap["LOAD_GLOBAL"]: 1, dis.opmap["LOAD_NAME"]: 0}
"""Operations that read a name, and bits of their arguments that say something else."""
_DOCUMENTED = 0x4000000
"""Flag of code that has a docstring, from Python 3.13."""
_DEEPEST = 100
"""Containers in one another that are read."""
_STANDARD = Path(sysconfig.get_path("stdlib")).resolve()


class Contents(NamedTuple):
    """Hashes of the contents of some objects.

    Attributes:
        parts: hash of what each module that is not installed adds, by its name.
        unsure: sentences on what has no value that could be compared.

    Example:
        >>> from hopfield import outside
        >>> scale = 2.0
        >>> outside.contents_of({"f": lambda x: scale * x}).unsure
        ()
    """

    parts: dict[str, str]
    unsure: tuple[str, ...]

    @property
    def hash(self) -> str:
        """One hash of all."""
        return _hash(repr(sorted(self.parts.items())))


def contents_of(roots: Mapping[str, Any], packages: Mapping[str, bool] | None = None) -> Contents:
    """Contents of objects and of all that they reach.

    Args:
        roots: objects by any name.
        packages: whether a package or module counts with its code or by its names, wherever it is installed; the
            innermost that is named decides. By default only this library is named, and counts by its names.
    """
    return _Walk({"hopfield": False} if packages is None else packages).contents(roots)


class _Walk:
    """Definitions and instances in the order in which they are reached, each once, so that a circle ends."""

    def __init__(self, packages: Mapping[str, bool]) -> None:
        self._packages = packages
        self._names: dict[int, str] = {}
        self._kept: list[Any] = []  # so that no other object takes an id
        self._waiting: list[tuple[str, str, str, Any]] = []
        self._counts: dict[str, int] = {}
        self._open: list[int] = []
        self._unsure: dict[str, None] = {}
        self._place = self._holder = ""
        self._is_tool = False

    def contents(self, roots: Mapping[str, Any]) -> Contents:
        found: dict[str, list[str]] = {"": [self._token(value, name) for name, value in roots.items()]}
        while self._waiting:
            self._place, text, self._holder, value = self._waiting.pop()
            self._is_tool = self._holder == ""
            found.setdefault(self._place, []).append(f"{text} {self._definition(value)}")
        parts = {place: _hash(repr(texts)) for place, texts in found.items()}
        return Contents(parts, tuple(self._unsure))

    def _token(self, value: Any, name: str) -> str:
        """Text that tells a value from others; a definition is told by its name, and its contents are read later."""
        if type(value) in _ATOMS:
            return f"{type(value).__name__} {value!r}"
        if isinstance(value, _BY_NAME):
            return f"{type(value).__name__} {getattr(value, '__qualname__', '')}"
        if isinstance(value, types.CodeType):
            return self._code(value)
        if type(value) in (tuple, list, dict, set, frozenset, types.MappingProxyType):
            return self._container(value, name)
        if isinstance(value, property | staticmethod | classmethod | functools.cached_property):
            inner = [getattr(value, each, None) for each in ("fget", "fset", "fdel", "__func__", "func")]
            return f"{type(value).__name__} {self._tokens(inner, name)}"
        if (array := _array(value)) is not None:
            inner = self._tokens(array.tolist(), name) if array.dtype.hasobject else _hash(array.tobytes())
            return f"array {value.dtype} {array.shape} {inner}"
        return self._named(value, name)

    def _tokens(self, values: Iterable[Any], name: str) -> str:
        return f"[{', '.join(self._token(each, name) for each in values)}]"

    def _container(self, value: Any, name: str) -> str:
        if id(value) in self._open:
            return f"again {len(self._open) - self._open.index(id(value))}"
        if len(self._open) > _DEEPEST:
            self._say(name, f"is nested more than {_DEEPEST} times, which is not read to its end")
            return type(value).__name__
        self._open.append(id(value))
        if isinstance(value, set | frozenset):
            text = self._tokens(sorted(value, key=_order), name)
        elif isinstance(value, dict | types.MappingProxyType):
            text = self._tokens((part for entry in value.items() for part in entry), name)
        else:
            text = self._tokens(value, name)
        self._open.pop()
        return f"{type(value).__name__} {text}"

    def _named(self, value: Any, name: str) -> str:
        """The name of a definition or an instance, which waits to be read if it is reached for the first time."""
        if id(value) in self._names:
            return self._names[id(value)]
        module, is_definition = _home(value), _is_definition(value)
        place = self._place if module is None else "" if self._is_known(module) else _place(module)
        about = value if is_definition else type(value)
        label = place or (module.__name__ if module is not None else "")
        text = ".".join(filter(None, (label, getattr(about, "__qualname__", ""))))
        waits = place or module is None or not isinstance(value, types.ModuleType | type)
        if waits:
            text = self._count(text if is_definition else f"instance of {text}")
            holder = text if is_definition else "" if self._is_tool else name
            self._waiting.append((place, text, holder, value))
        self._names[id(value)] = text
        self._kept.append(value)
        return text

    def _count(self, called: str) -> str:
        number = self._counts[called] = self._counts.get(called, 0) + 1
        return called if number == 1 else f"{called} {number}"

    def _is_known(self, module: types.ModuleType) -> bool:
        """True if the code of a module counts by its names."""
        name = module.__name__
        while name:
            if name in self._packages:
                return not self._packages[name]
            name = name.rpartition(".")[0]
        return _is_installed(module)

    def _definition(self, value: Any) -> str:
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, type):
            own = {key: each for key, each in vars(value).items() if key not in _BOOKKEEPING}
            return self._tokens((type(value), value.__bases__, *sorted(own)), "") + self._members(own, sorted(own))
        if isinstance(value, types.ModuleType):
            return self._module(value)
        return self._state(value)

    def _members(self, values: Mapping[str, Any], names: Iterable[str]) -> str:
        return "; ".join(f"{name} = {self._token(values[name], name)}" for name in names)

    def _function(self, function: types.FunctionType) -> str:
        code, module = function.__code__, _home(function)
        cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
        closed = {name: cell.cell_contents for name, cell in cells if _is_filled(cell)}
        self._is_tool = module is not None and self._is_known(module)  # what it holds of its own is its own matter
        own = self._members(closed, closed) + self._members(vars(function), sorted(vars(function)))
        if self._is_tool:
            return own
        names, values = _names(code), function.__globals__
        if names & _COMPUTED - values.keys() or "import_module" in _mentioned(code):
            self._say(self._holder, "reads code by names that it computes")
        imported = [each for each in map(_imported, _imports(code, values)) if each is not None]
        whole = values if names & _WHOLE - values.keys() else {}
        read = sorted(name for name in values.keys() & names | whole.keys() if not name.startswith("__"))
        defaults = self._tokens((function.__defaults__, function.__kwdefaults__, *imported), self._holder)
        return "\n".join((self._code(code), defaults, own, self._members(values, read)))

    def _code(self, code: types.CodeType) -> str:
        """Code without the places of its lines, its file and its docstring."""
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags & ~_DOCUMENTED)
        names = (code.co_name, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        steps = [
            f"{step} {self._token(code.co_consts[argument], '') if step in dis.hasconst else argument}"
            for step, argument in _steps(code)
        ]
        return f"{counts} {names} {steps} {code.co_exceptiontable.hex()}"

    def _module(self, module: types.ModuleType) -> str:
        """All that a module defines, but for its tools of Python's own and the modules of its folder."""
        own = {
            name: value
            for name, value in vars(module).items()
            if not name.startswith("__")
            and not (isinstance(value, types.ModuleType) and value.__name__.startswith(f"{module.__name__}."))
        }
        return self._members(own, sorted(own))

    def _state(self, value: Any) -> str:
        """Pickled form of an object, as a text."""
        try:
            if isinstance(value, _DRAWING) or type(value).__module__ == "random":
                raise TypeError
            if (wrapped := getattr(value, "__wrapped__", None)) is not None:  # compiled, cached, given a derivative
                held = getattr(value, "__dict__", {})
                return self._tokens((type(value), wrapped), self._holder) + self._members(
                    held, sorted(held.keys() - _BOOKKEEPING)
                )
            found: Any = copyreg.dispatch_table.get(type(value), lambda value: value.__reduce_ex__(4))(value)
        except Exception:  # noqa: BLE001  whatever an object of somebody else says where it cannot be pickled
            self._say(self._holder, f"is {_article(type(value).__qualname__)}, which has no value to compare")
            return self._token(type(value), self._holder)
        if isinstance(found, str):
            return self._tokens((type(value), found), self._holder)
        made, state = found[:2], found[2] if len(found) > 2 else None
        if type(state) is dict:  # without what a cached property has kept
            state = {name: each for name, each in state.items() if not _is_cached(type(value), name)} or None
        lists = [None if each is None else list(each) for each in found[3:5]]  # entries of a list, of a dict
        return self._tokens((*made, state, *lists), self._holder)

    def _say(self, name: str, what: str) -> None:
        if name:
            self._unsure[f"{name} {what}, so that a change of it is not noticed"] = None


def _hash(text: str | bytes) -> str:
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def _article(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def _order(value: Any) -> str:
    """A text by which the entries of a set stand in one order in every process."""
    if isinstance(value, tuple | frozenset):
        return repr([_order(each) for each in value] if isinstance(value, tuple) else sorted(map(_order, value)))
    named = getattr(value, "__qualname__", "")
    return f"{type(value).__qualname__} {repr(value) if type(value) in _ATOMS else named}"


def _is_definition(value: Any) -> bool:
    return isinstance(value, types.FunctionType | types.ModuleType | type)


def _is_cached(cls: type, name: Any) -> bool:
    """True if a name of an object holds what a property has worked out."""
    return any(isinstance(vars(base).get(name), functools.cached_property) for base in cls.__mro__)


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:  # of a function that is being defined
        return False


def _array(value: Any) -> np.ndarray | None:
    """Array of numbers, of JAX's keys their data; None for anything else."""
    if isinstance(value, jax.Array) and not is_traced(value):
        is_key = jnp.issubdtype(value.dtype, jax.dtypes.prng_key)
        return np.asarray(jax.random.key_data(value) if is_key else value)
    return np.asarray(value) if type(value) is np.ndarray or isinstance(value, np.generic) else None


def _home(value: Any) -> types.ModuleType | None:
    """Module that defines a function, a class, or the class of an instance; what `exec` has defined has none."""
    if isinstance(value, types.ModuleType):
        return value
    if isinstance(value, types.FunctionType):
        module = sys.modules.get(str(value.__globals__.get("__name__")))
        return module if module is not None and vars(module) is value.__globals__ else None
    cls = value if isinstance(value, type) else type(value)
    module = sys.modules.get(cls.__module__, None)
    return None if module is builtins and getattr(builtins, cls.__name__, None) is not cls else module


def _place(module: types.ModuleType) -> str:
    """Name of a module, of a file that was loaded by its path the name of the file."""
    file = getattr(module, "__file__", None)
    return Path(file).stem if module.__name__.startswith("_outside_") and file else module.__name__


@functools.cache
def _is_installed(module: types.ModuleType) -> bool:
    """True if a module belongs to Python or was copied by an installer, and so has a version."""
    spec, file = getattr(module, "__spec__", None), getattr(module, "__file__", None)
    if file is None:
        top = sys.modules.get(module.__name__.partition(".")[0], module)
        compiled = module.__name__.startswith("_cython") or (spec is not None and spec.origin in ("built-in", "frozen"))
        return compiled or (top is not module and _is_installed(top))
    return _is_copied(file)


def _is_copied(file: str) -> bool:
    """True if a file belongs to Python or was put in its place by an installer."""
    path = Path(file).resolve()
    return path.is_relative_to(_STANDARD) or bool({"site-packages", "dist-packages"} & {*path.parts})


def _mentioned(code: types.CodeType) -> set[str]:
    """Names in code, of attributes too; functions inside it included."""
    return {*code.co_names}.union(*(_mentioned(part) for part in code.co_consts if isinstance(part, types.CodeType)))


def _names(code: types.CodeType) -> set[str]:
    """Names of its module, and of Python's own, that code reads; functions inside it included."""
    inner = (part for part in code.co_consts if isinstance(part, types.CodeType))
    own = {code.co_names[argument >> _READING[step]] for step, argument in _steps(code) if step in _READING}
    return own.union(*map(_names, inner))


def _steps(code: types.CodeType) -> Iterator[tuple[int, int]]:
    """Operations with their arguments."""
    extended = 0
    for place in range(0, len(code.co_code), 2):
        step, argument = code.co_code[place], code.co_code[place + 1] | extended
        extended = argument << 8 if step == dis.EXTENDED_ARG else 0
        if step != dis.EXTENDED_ARG:
            yield step, argument


def _imports(code: types.CodeType, values: Mapping[str, Any]) -> Iterator[str]:
    """Modules that code imports when it is called."""
    constants: list[Any] = [0, None]
    for step, argument in _steps(code):
        if step == dis.opmap["IMPORT_NAME"]:
            level, names = constants[-2:]
            package = str(values.get("__package__") or "").rsplit(".", level - 1)[0] if level else ""
            module = ".".join(filter(None, (package, code.co_names[argument])))
            yield from (module, *(f"{module}.{name}" for name in names or ()))
        elif step in dis.hasconst:
            constants.append(code.co_consts[argument])
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from _imports(part, values)


def _imported(name: str) -> types.ModuleType | None:
    """A module that code imports when it is called; None for one that is installed and not there yet."""
    try:
        spec = None if name in sys.modules else importlib.util.find_spec(name.partition(".")[0])
        if spec is not None and (spec.origin is None or not spec.has_location or _is_copied(spec.origin)):
            return None
        return importlib.import_module(name)
    except Exception:  # noqa: BLE001  a name in a module, or code that fails where it is called
        return None

"""Names of similarities, separations and spaces, "name" or "name:number", read in one place."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from hopfield import outside
from hopfield._arguments import instance, nearest, parse_number, shown


class Named(NamedTuple):
    """Constructor of a named part, and the type of the number that may follow it, None where none may."""

    build: Callable[..., Any]
    number: type | None = None


def unknown_name(what: str, spec: str, names: Iterable[str]) -> ValueError:
    """The error of an unknown name; it suggests the nearest one, or how a user-defined one is written."""
    names = tuple(names)
    name, _, text = spec.partition(":")
    hint = nearest(spec, names)
    if not hint and text.isidentifier():
        hint = f" (one of your own is ./{name}.py:{text} or package.{name}:{text})"
    return ValueError(f"{what} must be one of {', '.join(names)}, got {spec!r}{hint}")


def number_of(what: str, spec: str, text: str, kind: type = float) -> Any:
    """The number `text` after the colon of a specification. ValueError, about the argument `what`, for other text."""
    try:
        return parse_number(kind, text)
    except ValueError:
        name, article = spec.removesuffix(f":{text}"), {int: "an integer", float: "a number"}[kind]
        raise ValueError(f"{what} must give {name} {article} after the colon, got {spec!r}") from None


class Table(NamedTuple):
    """Table of the names of one kind of part.

    Attributes:
        kind: base class of the parts; the argument is called by its name in small letters.
        group: of the same kind outside the package, as `outside.find` has it.
        names: constructors by name.
    """

    kind: type
    group: str
    names: dict[str, Named]

    @property
    def what(self) -> str:
        """Name of the argument that takes a part of this kind."""
        return self.kind.__name__.lower()

    def part(self, value: Any) -> Any:
        """Part that is given, or from a name, by `find`. Raises TypeError for anything else."""
        if isinstance(value, self.kind):
            return value
        if not isinstance(value, str):
            known = f"a {self.kind.__name__} or one of {', '.join(self.names)}"
            uncalled = isinstance(value, type) and issubclass(value, self.kind)
            got = f"the class {value.__name__} (write {value.__name__}())" if uncalled else shown(value)
            raise TypeError(f"{self.what} must be {known}, got {got}")
        return self.find(value)

    def find(self, spec: str) -> Any:
        """Part by its specification, "name" or "name:number", from this table or from outside the package.

        Raises:
            ValueError: an unknown name, a number where none may be, no number after the colon, or one out of range.
        """
        name, colon, text = instance(self.what, spec, str).partition(":")
        entry = outside.find(self.group, spec) if name not in self.names else None
        if entry is not None:
            return self._from_outside(entry, spec)
        if name not in self.names:
            raise unknown_name(self.what, spec, self.names)
        build, kind = self.names[name]
        if not colon:
            return build()
        if kind is None:
            raise ValueError(f"{self.what} must be {name} without a number, got {spec!r}")
        return build(number_of(self.what, spec, text, kind))

    def _from_outside(self, entry: outside.Outside, spec: str) -> Any:
        """Part from outside the package. A class or function is called, with the parameter if there is one."""
        value = entry.value
        if callable(value) and not isinstance(value, self.kind):
            parameter = () if entry.parameter is None else (number_of(self.what, spec, entry.parameter),)
            value = outside.called(self.what, spec, value, *parameter)
        if not isinstance(value, self.kind):
            wanted = f"a {self.kind.__name__} or return one"
            raise ValueError(f"{self.what} must be {wanted}, got {type(value).__name__} from {spec!r}")
        return value

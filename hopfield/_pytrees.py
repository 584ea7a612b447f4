"""The base of every pytree in the library: one whose class is part of its structure."""

import dataclasses
import inspect
import math
from collections.abc import Callable
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct
from jax.core import Tracer

MOST_SHOWN = 8
"""Entries of the largest array that a node shows the numbers of."""


PARTS = {"similarity": "similarities", "separation": "separations", "space": "spaces", "metric": "metrics"}
"""Fields that hold an object of a module of the library, and the module, whose objects have names elsewhere."""


class Node(struct.PyTreeNode):
    """A frozen dataclass of arrays; fields marked `pytree_node=False` are static.

    JAX takes two dataclass pytrees for the same structure if their static fields are equal, whatever their classes
    (seen in jaxlib 0.10.2). A compiled function would now and then run softmax where it is given sparsemax, since both
    have no field at all. The class itself is therefore a static field of every node.

    Two nodes are equal if they are of one structure and all their numbers are the same. In the text of a node, arrays
    of more than `MOST_SHOWN` entries stand as type and shape, `f32[10,50]`.
    """

    def __init_subclass__(cls, **options):
        parts = [name for name in PARTS if name in inspect.get_annotations(cls)]
        if parts and not hasattr(cls, "__post_init__"):
            cls.__post_init__ = _no_names(*parts)
        cls.__annotations__ = {**inspect.get_annotations(cls), "node_class": type}
        cls.node_class = struct.field(pytree_node=False, default=cls, kw_only=True, repr=False, compare=False)
        undocumented = "__doc__" not in vars(cls) or cls.__doc__ is None
        super().__init_subclass__(**{"eq": False, "repr": False} | options)
        _hide_class(cls, undocumented)

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Node):
            return self is other
        (mine, structure), (theirs, another) = jax.tree.flatten(self), jax.tree.flatten(other)
        return structure == another and all(map(_same, mine, theirs))

    def __hash__(self) -> int:
        return hash(jax.tree.structure(self))

    def checked(self) -> Self:
        """The node, its numbers within their ranges as by its factory: ValueError for others, NaN for traced ones.

        A constructor checks none, for JAX calls it with batches, axes and whatever else stands in the place of arrays.
        """
        return self

    def __repr__(self) -> str:
        fields = [field.name for field in dataclasses.fields(self) if field.repr]
        values = (f"{name}={_text(getattr(self, name))}" for name in fields)
        return f"{type(self).__name__}({', '.join(values)})"


def _hide_class(cls: type, undocumented: bool) -> None:
    """Set the signature that a user of a class of nodes sees: without `node_class`, which no user gives."""
    _, *parameters = inspect.signature(cls.__init__).parameters.values()
    shown = [parameter for parameter in parameters if parameter.name != "node_class"]
    cls.__signature__ = inspect.Signature(shown)
    if undocumented:  # the text of a dataclass is then its signature
        cls.__doc__ = f"{cls.__name__}{cls.__signature__}"


def _no_names(*parts: str) -> Callable[[Node], None]:
    """Check that no field that needs an object is text. TypeError, naming the factory that takes names, otherwise.

    It runs wherever JAX builds a node, of tracers, axes or anything else, and reads none of it.
    """

    def check(self: Node) -> None:
        for name in parts:
            if isinstance(getattr(self, name), str):
                kind, value = type(self).__name__, getattr(self, name)
                wanted = f"an object of hopfield.{PARTS[name]} where {kind} is called"
                taker = f"{kind}.create" if hasattr(self, "create") else f"{PARTS[name]}.find"
                hint = f" ({taker} takes names)" if name != "metric" else ""
                raise TypeError(f"{name} must be {wanted}{hint}, got {value!r}")

    return check


class _Text(str):
    """A text that stands in a container as it is, without quotes."""

    __repr__ = str.__str__


def _text(value: Any) -> str:
    """The text of a field: of a node, an array, a container of both, or of anything else."""
    if isinstance(value, Node):
        return repr(value)
    if jax.tree_util.all_leaves([value]):
        return _text_of_leaf(value)
    return repr(jax.tree.map(lambda part: _Text(_text(part)), value, is_leaf=lambda part: isinstance(part, Node)))


def _text_of_leaf(value: Any) -> str:
    """Text of a leaf: a number, a few numbers on one line, or type and shape of a larger or absent array."""
    if not hasattr(value, "dtype") or not hasattr(value, "shape"):
        return repr(value)
    name = str(value.dtype).replace("float", "f").replace("uint", "u").replace("int", "i").replace("complex", "c")
    absent = isinstance(value, Tracer | jax.ShapeDtypeStruct)
    lost = isinstance(value, jax.Array) and not absent and (value.is_deleted() or not value.is_fully_addressable)
    if absent or lost or jnp.issubdtype(value.dtype, jax.dtypes.extended) or math.prod(value.shape) > MOST_SHOWN:
        return f"{name}[{','.join(map(str, value.shape))}]"
    return " ".join(repr(value).split()) if value.shape else str(np.asarray(value))


def _same(a: Any, b: Any) -> bool:
    """Whether two leaves have one type, one shape and the same entries, NaN equal to NaN."""
    if a is b:
        return True
    dtype = jnp.result_type(a)
    numbers = jnp.issubdtype(dtype, jnp.number) or jnp.issubdtype(dtype, jnp.bool_)
    return bool(
        numbers and dtype == jnp.result_type(b) and np.array_equal(a, b, equal_nan=jnp.issubdtype(dtype, jnp.inexact))
    )

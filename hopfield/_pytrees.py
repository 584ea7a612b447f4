"""The base of every pytree in the library: one whose class is part of its structure."""

import dataclasses
import math
from typing import Any, Self, TypeVar, dataclass_transform

import jax
import jax.numpy as jnp
import numpy as np
from flax import serialization, struct
from jax.core import Tracer

T = TypeVar("T", bound="Node")

MOST_SHOWN = 8
"""Entries of the largest array that a node shows the numbers of."""


@dataclass_transform(field_specifiers=(struct.field, dataclasses.field))
class Node:
    """A frozen dataclass of arrays; fields marked `pytree_node=False` are static.

    The constructor checks and converts its arguments. JAX rebuilds a node from batches, axes or anything else and does
    not pass through the constructor. The class is part of the structure.

    Two nodes are equal if they are of one structure and all their numbers are the same. In the text of a node, arrays
    of more than `MOST_SHOWN` entries stand as type and shape, `f32[10,50]`.
    """

    def __init_subclass__(cls, **options):
        super().__init_subclass__()
        dataclasses.dataclass(**{"frozen": True, "eq": False, "repr": False} | options)(cls)
        names: dict[bool, list[str]] = {True: [], False: []}
        for field in dataclasses.fields(cls):  # pyright: ignore[reportArgumentType]
            names[field.metadata.get("pytree_node", True)].append(field.name)
        _register(cls, names[True], names[False])

    def replace(self, /, **changes: Any) -> Self:
        """The node with other fields, checked as by the constructor."""
        return dataclasses.replace(self, **changes)  # pyright: ignore[reportArgumentType]

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Node):
            return self is other
        (mine, structure), (theirs, another) = jax.tree.flatten(self), jax.tree.flatten(other)
        return structure == another and all(map(_same, mine, theirs))

    def __hash__(self) -> int:
        return hash(jax.tree.structure(self))

    def __repr__(self) -> str:
        fields = [field.name for field in dataclasses.fields(self) if field.repr]  # pyright: ignore[reportArgumentType]
        values = (f"{name}={_text(getattr(self, name))}" for name in fields)
        return f"{type(self).__name__}({', '.join(values)})"


def fill(node: Node, **values: Any) -> None:
    """Set fields of a node while it is built."""
    for name, value in values.items():
        object.__setattr__(node, name, value)


def changed(node: T, /, **changes: Any) -> T:
    """The node with other fields, which are not checked. TypeError for a name that is no field."""
    if unknown := changes.keys() - vars(node).keys():
        raise TypeError(f"changes must be of {', '.join(vars(node))}, got {', '.join(sorted(unknown))}")
    other = object.__new__(type(node))
    fill(other, **vars(node) | changes)
    return other


def unchecked(kind: type[T], /, **values: Any) -> T:
    """Node of a class from its fields, which are not checked."""
    fields = dataclasses.fields(kind)  # pyright: ignore[reportArgumentType]
    node = object.__new__(kind)
    fill(node, **{field.name: field.default for field in fields} | values)
    return node


def _register(cls: type, arrays: list[str], static: list[str]) -> None:
    """Make a class known to JAX as a pytree, and to Flax's serialization."""
    keys = [jax.tree_util.GetAttrKey(name) for name in arrays]

    def flatten(node):
        return [getattr(node, name) for name in arrays], tuple(getattr(node, name) for name in static)

    def flatten_with_keys(node):
        leaves, kept = flatten(node)
        return list(zip(keys, leaves, strict=True)), kept

    def unflatten(kept, leaves):
        node = object.__new__(cls)
        fill(node, **dict(zip(static, kept, strict=True)), **dict(zip(arrays, leaves, strict=True)))
        return node

    def restored(node, state):
        if state.keys() != set(arrays):
            raise ValueError(
                f"state of {cls.__name__} must have the entries {', '.join(arrays)}, got {', '.join(state)}"
            )
        return changed(
            node, **{name: serialization.from_state_dict(getattr(node, name), state[name], name) for name in arrays}
        )

    jax.tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten, flatten)
    serialization.register_serialization_state(
        cls, lambda node: {name: serialization.to_state_dict(getattr(node, name)) for name in arrays}, restored
    )


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
    """True if two leaves have one type, one shape and the same entries, NaN equal to NaN."""
    if a is b:
        return True
    dtype = jnp.result_type(a)
    numbers = jnp.issubdtype(dtype, jnp.number) or jnp.issubdtype(dtype, jnp.bool_)
    return bool(
        numbers and dtype == jnp.result_type(b) and np.array_equal(a, b, equal_nan=jnp.issubdtype(dtype, jnp.inexact))
    )

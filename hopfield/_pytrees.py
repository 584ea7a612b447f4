"""The base of every pytree in the library: one whose class is part of its structure."""

import inspect
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct


class Node(struct.PyTreeNode):
    """A frozen dataclass of arrays; fields marked `pytree_node=False` are static.

    JAX takes two dataclass pytrees for the same structure if their static fields are equal, whatever their classes
    (seen in jaxlib 0.10.2). A compiled function would now and then run softmax where it is given sparsemax, since both
    have no field at all. The class itself is therefore a static field of every node.

    Two nodes are equal if they are of one structure and all their numbers are the same.
    """

    def __init_subclass__(cls, **options):
        cls.__annotations__ = {**inspect.get_annotations(cls), "node_class": type}
        cls.node_class = struct.field(pytree_node=False, default=cls, kw_only=True, repr=False, compare=False)
        super().__init_subclass__(**{"eq": False} | options)

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Node):
            return self is other
        (mine, structure), (theirs, another) = jax.tree.flatten(self), jax.tree.flatten(other)
        return structure == another and all(map(_same, mine, theirs))

    def __hash__(self) -> int:
        return hash(jax.tree.structure(self))


def _same(a: Any, b: Any) -> bool:
    """Whether two leaves have one type, one shape and the same entries, NaN equal to NaN."""
    if a is b:
        return True
    dtype = jnp.result_type(a)
    numbers = jnp.issubdtype(dtype, jnp.number) or jnp.issubdtype(dtype, jnp.bool_)
    return bool(
        numbers and dtype == jnp.result_type(b) and np.array_equal(a, b, equal_nan=jnp.issubdtype(dtype, jnp.inexact))
    )

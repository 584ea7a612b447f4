"""The base of every pytree in the library: one whose class is part of its structure."""

import inspect

from flax import struct


class Node(struct.PyTreeNode):
    """A frozen dataclass of arrays; fields marked `pytree_node=False` are static.

    JAX takes two dataclass pytrees for the same structure if their static fields are equal, whatever their classes
    (seen in jaxlib 0.10.2). A compiled function would now and then run softmax where it is given sparsemax, since both
    have no field at all. The class itself is therefore a static field of every node.
    """

    def __init_subclass__(cls, **options):
        cls.__annotations__ = {**inspect.get_annotations(cls), "node_class": type}
        cls.node_class = struct.field(pytree_node=False, default=cls, kw_only=True, repr=False, compare=False)
        super().__init_subclass__(**options)

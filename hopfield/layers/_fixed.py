"""Numbers and pytrees that a layer holds as state and no optimiser trains."""

from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx


class FixedParam(nnx.Variable):
    """Numbers that a layer holds and no optimiser trains.

    Example:
        >>> from flax import nnx
        >>> from hopfield.layers import FixedParam
        >>> nnx.Dict(scale=FixedParam(jnp.ones(2))).scale.shape
        (2,)
    """


class FixedTree(nnx.Module):
    """A pytree as part of a module: the numbers that it contains are state, its class is structure."""

    def __init__(self, tree: Any) -> None:
        leaves, self.structure = jax.tree.flatten(tree)
        self.leaves = nnx.List([FixedParam(jnp.asarray(leaf)) for leaf in leaves])

    @property
    def value(self) -> Any:
        """The pytree. A property, since `nnx.tabulate` would record the result of a method."""
        return jax.tree.unflatten(self.structure, [leaf[...] for leaf in self.leaves])

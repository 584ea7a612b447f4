"""Numbers and pytrees that a layer holds as state and no optimiser trains."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from hopfield._numerics import is_traced


class FixedParam(nnx.Variable):
    """Numbers that a layer holds and no optimiser trains.

    Example:
        >>> from flax import nnx
        >>> from hopfield.layers import FixedParam
        >>> nnx.Dict(scale=FixedParam(jnp.ones(2))).scale.shape
        (2,)
    """


class FixedTree(nnx.Module):
    """A pytree as part of a module: the arrays that it contains are state, its class is structure.

    Args:
        tree: the pytree.
        constant: whether single numbers in it are structure, too: a kernel for them is compiled under a trace as well.
    """

    def __init__(self, tree: Any, constant: bool = False) -> None:
        leaves, self.structure = jax.tree.flatten(tree)
        fixed = lambda leaf: constant and jnp.ndim(leaf) == 0 and not is_traced(leaf)
        self.leaves = nnx.List(
            [np.asarray(leaf).item() if fixed(leaf) else FixedParam(jnp.asarray(leaf)) for leaf in leaves]
        )

    @property
    def value(self) -> Any:
        """The pytree. A property, since `nnx.tabulate` would record the result of a method."""
        leaves = [leaf[...] if isinstance(leaf, FixedParam) else leaf for leaf in self.leaves]
        return jax.tree.unflatten(self.structure, leaves)

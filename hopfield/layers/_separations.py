"""Separations whose exponent is learned, one per head, and how scores of all heads are read with them."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from flax import nnx
from flax.typing import Dtype
from jaxtyping import Array

from hopfield.layers._fixed import FixedTree
from hopfield.separations import Entmax, Separation, as_separation


class LearnedEntmax(nnx.Module):
    """α-entmax with α = 1 + 1/(1 + e^(−raw)) of each head, in (1, 2) whatever the parameters are."""

    def __init__(self, start: Separation, heads: int, param_dtype: Dtype) -> None:
        """Parameters that begin at α of `start`. ValueError for another separation, or α = 2, which none reaches."""
        if not isinstance(start, Entmax) or start.alpha >= 2:
            raise ValueError(f"learn_alpha must be left out but with entmax, 1 < α < 2, got {type(start).__name__}")
        share = jnp.asarray(start.alpha - 1.0)
        self.raw = nnx.Param(jnp.full(heads, jnp.log(share) - jnp.log1p(-share), param_dtype))

    @property
    def value(self) -> Separation:
        """The separation of all heads, its α an array [H]."""
        return Entmax(1.0 + jax.nn.sigmoid(self.raw[...]))


def separation_of(
    separation: Separation | str, learned: bool, heads: int, param_dtype: Dtype
) -> "LearnedEntmax | FixedTree":
    """Separation of a layer's options, whose `value` is the separation of the parameters' present values."""
    start = as_separation(separation)
    return LearnedEntmax(start, heads, param_dtype) if learned else FixedTree(start, constant=True)


def for_each_head(function: Callable, separation: Separation, scores: Array, mask: Array | None) -> Array:
    """function(separation, scores, mask) of scores [*b, H, T, S], head by head where the separation has numbers [H]."""
    if not any(jnp.ndim(leaf) for leaf in jax.tree.leaves(separation)):
        return function(separation, scores, mask)
    mask = jnp.ones(scores.shape, bool) if mask is None else jnp.broadcast_to(mask, scores.shape)
    rest = scores.ndim - 3  # axes of sequences before those of heads, which stay behind the heads' own
    scores, mask = (jnp.moveaxis(x, rest, 0) for x in (scores, mask))
    return jnp.moveaxis(jax.vmap(function)(separation, scores, mask), 0, rest)

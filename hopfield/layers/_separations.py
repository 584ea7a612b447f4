"""Separations whose exponent is learned, one per head, and how scores of all heads are read with them."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from flax import nnx
from flax.typing import Dtype
from jaxtyping import Array

from hopfield._pytrees import unchecked
from hopfield.layers._fixed import FixedTree
from hopfield.separations import Entmax, RectifiedPower, Separation, SteepEntmax, as_separation

LEAST, MOST = 1.001, SteepEntmax.most
"""Limits of a learned α: rounding leaves nothing of one closer to 1."""


class LearnedExponent(nnx.Module):
    """Exponents of each head: α of an entmax, or n = 1 + ln(1 + e^raw) of a power.

    α lies between LEAST and MOST, at the share 1/(1 + e^(−raw)), and n above 1, whatever the parameters are.
    """

    def __init__(self, start: Separation, heads: int, param_dtype: Dtype) -> None:
        """Parameters that begin at `start`. ValueError for another separation, or an exponent that none reaches."""
        self.entmax = isinstance(start, Entmax)
        if isinstance(start, Entmax) and LEAST < start.alpha < MOST:
            share = (jnp.asarray(start.alpha) - LEAST) / (MOST - LEAST)
            raw = jnp.log(share) - jnp.log1p(-share)
        elif isinstance(start, RectifiedPower) and start.degree > 1:
            raw = jnp.log(jnp.expm1(start.degree - 1.0))
        else:
            wanted = f"entmax, {LEAST} < α < {MOST:g}, or power, n > 1"
            raise ValueError(f"learn_alpha must be left out but with {wanted}, got {type(start).__name__}")
        self.raw = nnx.Param(jnp.full(heads, raw, param_dtype))

    @property
    def value(self) -> Separation:
        """The separation of all heads, its exponent an array [H]."""
        if self.entmax:
            return unchecked(SteepEntmax, alpha=LEAST + (MOST - LEAST) * jax.nn.sigmoid(self.raw[...]))
        return unchecked(RectifiedPower, degree=1.0 + jax.nn.softplus(self.raw[...]))


def separation_of(
    separation: Separation | str, learned: bool, heads: int, param_dtype: Dtype
) -> "LearnedExponent | FixedTree":
    """Separation of a layer's options, whose `value` is the separation of the parameters' present values."""
    start = as_separation(separation)
    return LearnedExponent(start, heads, param_dtype) if learned else FixedTree(start, constant=True)


def for_each_head(function: Callable, separation: Separation, scores: Array, mask: Array | None) -> Array:
    """function(separation, scores, mask) of scores [*b, H, T, S], head by head where the separation has numbers [H]."""
    if not any(jnp.ndim(leaf) for leaf in jax.tree.leaves(separation)):
        return function(separation, scores, mask)
    mask = jnp.ones(scores.shape, bool) if mask is None else jnp.broadcast_to(mask, scores.shape)
    rest = scores.ndim - 3  # axes of sequences before those of heads, which stay behind the heads' own
    scores, mask = (jnp.moveaxis(x, rest, 0) for x in (scores, mask))
    return jnp.moveaxis(jax.vmap(function)(separation, scores, mask), 0, rest)

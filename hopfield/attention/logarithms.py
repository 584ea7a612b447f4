"""Logarithms of weights, which stay finite where the weights themselves underflow."""

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._arguments import real_array
from hopfield._numerics import map_rows
from hopfield.attention.core import SOFTMAX, broadcast_with_mask, masked_weights, tempered
from hopfield.attention.mask_views import MaskLike, allowed
from hopfield.attention.masks import Mask
from hopfield.separations import Separation, as_separation


def log_weights(
    scores: Float[Array, "*b T S"],
    *,
    separation: Separation | str = SOFTMAX,
    mask: MaskLike = None,
    temperature: ArrayLike | None = None,
) -> Float[Array, "*b T S"]:
    """Logarithms ln A_ij of the weights [*b, T, S]: −∞ where a key is masked or has none. Arguments as in `weights`.

    Of softmax and softmax₁ it is s − F(s), s being the scores over the temperature, exact where no float can hold the
    weight; of others the logarithm of it.
    """
    scores, separation = real_array("scores", scores), as_separation(separation)
    if scores.ndim < 2:
        mask = mask if mask is None or isinstance(mask, Mask) else jnp.atleast_2d(mask)
        return log_weights(jnp.atleast_2d(scores), separation=separation, mask=mask, temperature=temperature)[..., 0, :]
    scores = tempered(scores, temperature)
    where = allowed(mask, scores.shape[-2], scores.shape[-1], scores.ndim)
    if not separation.gibbs:
        shares = masked_weights(scores, separation, where)
        none = shares <= 0
        return jnp.where(none, -jnp.inf, jnp.log(jnp.where(none, 1.0, shares)))
    scores, where = broadcast_with_mask(scores, where)
    gone = scores == -jnp.inf if where is None else ~where | (scores == -jnp.inf)
    potential = map_rows(separation.potential, [jnp.where(gone, 0.0, scores), ~gone], [1, 1])[..., None]
    none = gone.all(axis=-1, keepdims=True)
    return jnp.where(gone, -jnp.inf, jnp.where(gone, 0.0, scores) - jnp.where(none, 0.0, potential))

"""Deformed logarithms of Tsallis' statistics, whose values and slopes do not cancel as the deformation vanishes."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

TERMS = np.arange(12)
RISE = (TERMS + 1) / np.array([float(np.prod(np.arange(1.0, j + 3))) for j in TERMS])
"""(w e^w − e^w + 1)/w² = Σ (j+1)/(j+2)! w^j."""
FALL = -((-1.0) ** TERMS) * (TERMS + 1) / (TERMS + 2)
"""(w/(1+w) − ln(1+w))/w² = −Σ (j+1)/(j+2) (−w)^j."""
NEAR = 0.05


@jax.custom_jvp
def power_logarithm(y: Float[Array, "*n"], gap: Float[Array, ""]) -> Float[Array, "*n"]:
    """Tsallis' logarithm (e^(gap y) − 1)/gap of e^y, entry by entry; y itself at a gap of 0."""
    return jnp.where(gap == 0, y, jnp.expm1(gap * y) / jnp.where(gap == 0, 1.0, gap))


@power_logarithm.defjvp
def _power_logarithm_jvp(primals, tangents):
    (y, gap), (dy, d_gap) = primals, tangents
    w = gap * y
    return power_logarithm(y, gap), jnp.exp(w) * dy + _slope(y, gap, w * jnp.exp(w) - jnp.expm1(w), RISE) * d_gap


@jax.custom_jvp
def log_power(y: Float[Array, "*n"], gap: Float[Array, ""]) -> Float[Array, "*n"]:
    """Inverse ln(1 + gap y)/gap of `power_logarithm`, where 1 + gap y > 0; y itself at a gap of 0."""
    return jnp.where(gap == 0, y, jnp.log1p(gap * y) / jnp.where(gap == 0, 1.0, gap))


@log_power.defjvp
def _log_power_jvp(primals, tangents):
    (y, gap), (dy, d_gap) = primals, tangents
    w = gap * y
    return log_power(y, gap), dy / (1.0 + w) + _slope(y, gap, w / (1.0 + w) - jnp.log1p(w), FALL) * d_gap


def _slope(y: Array, gap: Array, far: Array, series: np.ndarray) -> Array:
    """Slope far/gap² in the gap, `far` being its numerator [*n]; by its power series in gap · y where that is small."""
    w, near = gap * y, jnp.abs(gap * y) < NEAR
    close = y * y * jnp.polyval(jnp.asarray(series[::-1], y.dtype), jnp.where(near, w, 0.0))
    return jnp.where(near, close, far / jnp.where(gap == 0, 1.0, gap * gap))

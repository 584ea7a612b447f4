"""Random pattern ensembles: spins, biased and correlated spins, Gaussian patterns, patterns on a sphere.

Row μ of an ensemble depends on the key and μ only: more patterns never change the earlier ones, and `first`
continues an ensemble where another call left off. The same spins come out in every floating type. Sizes are
static; numbers (bias, length, …) may be traced, and where one is out of range the patterns are NaN.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Literal, get_args

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike
from jaxtyping import Array, Float, Int, PRNGKeyArray

from hopfield._arguments import integer, random_key, real_scalar
from hopfield._arrays import Patterns, State
from hopfield._numerics import is_traced, unit

Scalar = float | Float[Array, ""]
Index = int | Int[Array, ""]

Ensemble = Literal["spins", "biased", "correlated", "gaussian", "sphere"]
ENSEMBLES: tuple[Ensemble, ...] = get_args(Ensemble)


@partial(jax.jit, static_argnums=(0, 3, 4, 5))
def _rows(
    draw: Callable, key: PRNGKeyArray, first: Array, num_patterns: int, neurons: int, dtype: DTypeLike, *parameters
) -> Patterns:
    def row(index):
        return draw(jax.random.fold_in(key, index), neurons, dtype, *parameters)

    return jax.vmap(row)(jnp.arange(num_patterns, dtype=jnp.uint32) + first)


def _ensemble(
    draw: Callable,
    key: PRNGKeyArray,
    num_patterns: int,
    neurons: int,
    first: Index,
    dtype: DTypeLike | None,
    *parameters,
) -> Patterns:
    random_key("key", key)
    num_patterns, neurons = integer("num_patterns", num_patterns), integer("neurons", neurons)
    if not is_traced(first) and integer("first", first, 0) > 2**32 - num_patterns:
        raise ValueError(f"first must be an index of at most {2**32 - num_patterns}, got {first}")
    dtype = jnp.dtype(jnp.result_type(float) if dtype is None else dtype)
    if not jnp.issubdtype(dtype, jnp.floating):
        raise ValueError(f"dtype must be a floating type, got {dtype}")
    return _rows(draw, key, jnp.asarray(first, jnp.uint32), num_patterns, neurons, dtype, *parameters)


def _spin_row(key: PRNGKeyArray, neurons: int, dtype: DTypeLike) -> State:
    return jnp.where(jax.random.bits(key, (neurons,), jnp.uint8) & 1 == 1, 1.0, -1.0).astype(dtype)


def _biased_row(key: PRNGKeyArray, neurons: int, dtype: DTypeLike, bias: Array) -> State:
    # Single precision on purpose, here and in the correlated field: the same spins whatever the precision in force.
    up = 0.5 * (1.0 + bias.astype(jnp.float32))
    spins = jnp.where(jax.random.uniform(key, (neurons,), jnp.float32) < up, 1.0, -1.0)
    return jnp.where(jnp.isnan(up), jnp.nan, spins).astype(dtype)


def _correlated_row(key: PRNGKeyArray, neurons: int, dtype: DTypeLike, length: Array) -> State:
    distance = np.minimum(np.arange(neurons), neurons - np.arange(neurons)).astype(np.float32)
    correlation = jnp.exp(-distance / jnp.maximum(length.astype(jnp.float32), 1e-6))
    # e^(−arc/length) is positive definite on a circle: negative eigenvalues are rounding.
    spectrum = jnp.maximum(jnp.fft.rfft(correlation).real, 0.0)
    white = jax.random.normal(key, (neurons,), jnp.float32)
    field = jnp.fft.irfft(jnp.sqrt(spectrum) * jnp.fft.rfft(white), n=neurons)
    return jnp.where(jnp.isnan(field), jnp.nan, jnp.where(field >= 0, 1.0, -1.0)).astype(dtype)


def _gaussian_row(key: PRNGKeyArray, neurons: int, dtype: DTypeLike) -> State:
    return jax.random.normal(key, (neurons,), dtype)


def _sphere_row(key: PRNGKeyArray, neurons: int, dtype: DTypeLike, radius: Array) -> State:
    return radius.astype(dtype) * unit(jax.random.normal(key, (neurons,), dtype))


def spins(
    key: PRNGKeyArray, num_patterns: int, neurons: int, *, first: Index = 0, dtype: DTypeLike | None = None
) -> Patterns:
    """Independent unbiased spins ±1.

    Args:
        key: random key; with the row's index it determines the row.
        num_patterns, neurons: M and N, at least 1.
        first: index of the first row, so that a large ensemble can be drawn in pieces.
        dtype: floating type of the result; JAX's default float when None.
    """
    return _ensemble(_spin_row, key, num_patterns, neurons, first, dtype)


def biased(
    key: PRNGKeyArray,
    num_patterns: int,
    neurons: int,
    bias: Scalar,
    *,
    first: Index = 0,
    dtype: DTypeLike | None = None,
) -> Patterns:
    """Independent spins with mean activity a: P(ξ = +1) = (1 + a)/2.

    Args:
        bias: mean activity a in [−1, 1].
        key, num_patterns, neurons, first, dtype: as for `spins`.
    """
    bias = real_scalar("bias", bias, "in [-1, 1]", -1.0, 1.0)
    return _ensemble(_biased_row, key, num_patterns, neurons, first, dtype, jnp.asarray(bias))


def correlated(
    key: PRNGKeyArray,
    num_patterns: int,
    neurons: int,
    length: Scalar,
    *,
    first: Index = 0,
    dtype: DTypeLike | None = None,
) -> Patterns:
    """Spins correlated in space: the sign of a Gaussian field on a ring with correlation e^(−d/length).

    The field has unit variance and exactly that correlation at ring distance d = min(|i − j|, N − |i − j|),
    so that ⟨ξ_i ξ_j⟩ = (2/π) arcsin e^(−d/length). Rows are independent of each other.

    Args:
        length: correlation length in neurons, at least 0; 0 gives independent spins.
        key, num_patterns, neurons, first, dtype: as for `spins`.
    """
    length = real_scalar("length", length, "at least 0", 0.0, math.inf)
    return _ensemble(_correlated_row, key, num_patterns, neurons, first, dtype, jnp.asarray(length))


def gaussian(
    key: PRNGKeyArray, num_patterns: int, neurons: int, *, first: Index = 0, dtype: DTypeLike | None = None
) -> Patterns:
    """Independent standard normal components, so that ‖ξ‖² is N on average. Arguments as for `spins`."""
    return _ensemble(_gaussian_row, key, num_patterns, neurons, first, dtype)


def sphere(
    key: PRNGKeyArray,
    num_patterns: int,
    neurons: int,
    radius: Scalar | None = None,
    *,
    first: Index = 0,
    dtype: DTypeLike | None = None,
) -> Patterns:
    """Points uniform on the sphere ‖ξ‖ = radius.

    Args:
        radius: at least 0; √N when None, the norm of a spin pattern.
        key, num_patterns, neurons, first, dtype: as for `spins`.
    """
    radius = math.sqrt(integer("neurons", neurons)) if radius is None else radius
    radius = real_scalar("radius", radius, "at least 0 and finite", 0.0, float(jnp.finfo(jnp.result_type(float)).max))
    return _ensemble(_sphere_row, key, num_patterns, neurons, first, dtype, jnp.asarray(radius))

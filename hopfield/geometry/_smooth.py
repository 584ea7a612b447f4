"""Functions of squared lengths and of symmetric matrices that stay differentiable at zero and at equal eigenvalues.

Source: Daleckii & Krein, AMS Transl. 47, 1 (1965) and Higham, Functions of Matrices, §3.2 (2008) for matrices.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hopfield._arrays import length
from hopfield._numerics import largest, power_of_two, unit

Square = Float[Array, "*b"]
Matrix = Float[Array, "*b n n"]

NEAR = 1 / 32
"""Largest |x| for which `arc` is meant."""

_GAUSS = np.polynomial.legendre.leggauss(8)
_NODES, _WEIGHTS = (_GAUSS[0] + 1) / 2, _GAUSS[1] / 2  # on [0, 1]


def root_of(form: Callable[[Any], Square], vector: Any) -> Square:
    """√q(v) of a quadratic form and a vector, or a tree of arrays, at any scale; derivatives as in `length`."""
    sizes = [largest(jnp.abs(leaf)) for leaf in jax.tree.leaves(vector)]
    scale = power_of_two(jnp.max(jnp.stack(sizes)))
    return scale * length(form(jax.tree.map(lambda leaf: leaf / scale, vector)))


def sinc(square: Square) -> Square:
    """sin √q / √q for q > −1; sinh √−q / √−q where q is negative."""
    small = square < 1
    root = jnp.sqrt(jnp.where(small, 1.0, square))
    series = _series(square, small, [1 / math.factorial(2 * k + 1) for k in range(12)])
    return jnp.where(small, series, jnp.sin(root) / root)


def versine(square: Square) -> Square:
    """(1 − cos √q)/q for q > −1."""
    return sinc(square / 4) ** 2 / 2


def arc(square: Square) -> Square:
    """arctan √q / √q for |q| ≤ 1/32, NaN beyond; artanh √−q / √−q where q is negative."""
    near = jnp.abs(square) <= NEAR
    return jnp.where(near, _series(square, near, [1 / (2 * k + 1) for k in range(13)]), jnp.nan)


def ratio(part: Square, whole: Square) -> tuple[Square, Array]:
    """part/whole if at most 1/32, else 0; and a flag for the first case."""
    small = part <= NEAR * whole
    small &= whole > 0
    return jnp.where(small, part, 0.0) / jnp.where(small, whole, 1.0), small


def away(vector: Float[Array, "*b n"], small: Array) -> Float[Array, "*b n"]:
    """v/‖v‖ along the last axis; where `small`, any unit vector: drop its derivatives."""
    return unit(jnp.where(small[..., None], 1.0, vector))


def of_spectrum(function: Callable, matrix: Matrix, *, relative: bool = True) -> Matrix:
    """V f(λ) Vᵀ, twice differentiable even where eigenvalues coincide. A third derivative is NaN.

    Args:
        function: f, of arrays.
        matrix: symmetric.
        relative: whether f varies over the scale of λ itself, as log and √ do; else over a scale of 1, as exp does.
    """
    return _of_spectrum(function, relative, (matrix + jnp.swapaxes(matrix, -1, -2)) / 2)


@partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _of_spectrum(function: Callable, relative: bool, matrix: Matrix) -> Matrix:
    levels, vectors = jnp.linalg.eigh(matrix)
    return (vectors * function(levels)[..., None, :]) @ jnp.swapaxes(vectors, -1, -2)


@_of_spectrum.defjvp
def _of_spectrum_jvp(function, relative, primals, tangents):
    def local_expansion(matrix: Matrix) -> Matrix:
        fixed = jax.lax.stop_gradient(matrix)
        levels, vectors = jnp.linalg.eigh(fixed)
        change = jnp.swapaxes(vectors, -1, -2) @ (matrix - fixed) @ vectors
        return _second_order_expansion(function, relative, levels, vectors, change)

    return jax.jvp(local_expansion, primals, tangents)


@jax.custom_jvp
def log_of_gram(factor: Matrix) -> Matrix:
    """log(G Gᵀ) = U 2 ln σ Uᵀ by the singular values of G, whose squares would lose half the digits.

    Derivatives as in `of_spectrum`.
    """
    vectors, values, _ = jnp.linalg.svd(factor)
    return (vectors * (2 * jnp.log(values))[..., None, :]) @ jnp.swapaxes(vectors, -1, -2)


@log_of_gram.defjvp
def _log_of_gram_jvp(primals, tangents):
    def local_expansion(factor: Matrix) -> Matrix:
        fixed = jax.lax.stop_gradient(factor)
        vectors, values, right = jnp.linalg.svd(fixed)
        change = jnp.swapaxes(vectors, -1, -2) @ (factor - fixed) @ jnp.swapaxes(right, -1, -2)
        once = change * values[..., None, :]
        grown = once + jnp.swapaxes(once, -1, -2) + change @ jnp.swapaxes(change, -1, -2)  # (σ + X)(σ + X)ᵀ − σ²
        return _second_order_expansion(jnp.log, True, values**2, vectors, grown)

    return jax.jvp(local_expansion, primals, tangents)


def _second_order_expansion(
    function: Callable, relative: bool, levels: Array, vectors: Matrix, change: Matrix
) -> Matrix:
    """f(A + X) at X = 0, as f[i] + f[i, j] X_ij + Σ_k f[i, k, j] X_ik X_kj in the eigenvectors of A."""
    back = jnp.swapaxes(vectors, -1, -2)
    first = _divided_difference(function, relative, levels[..., :, None], levels[..., None, :])
    i, k, j = levels[..., :, None, None], levels[..., None, :, None], levels[..., None, None, :]
    second = jnp.einsum("...ikj,...ik,...kj->...ij", _twice_divided(function, relative, i, k, j), change, change)
    unknown = jnp.power(change, 2.5)  # zero, and the third derivative is not a number rather than wrong
    inner = first * change + second + unknown
    return (vectors * function(levels)[..., None, :]) @ back + vectors @ inner @ back


def _divided_difference(function: Callable, relative: bool, a: Array, b: Array) -> Array:
    """(f(a) − f(b))/(a − b), as the mean of f′ between them where they are near."""
    a, b = jnp.broadcast_arrays(a, b)
    near = jnp.abs(a - b) <= _scale(relative, jnp.maximum(a, b))
    b_near = jnp.where(near, b, a)
    nodes, weights = (jnp.asarray(x, a.dtype) for x in (_NODES, _WEIGHTS))
    slopes = _slope(function)(a[..., None] + jnp.einsum("...,s->...s", b_near - a, nodes))
    mean = jnp.einsum("...s,s->...", slopes, weights)
    return jnp.where(near, mean, (function(a) - function(b)) / jnp.where(near, 1.0, a - b))


def _twice_divided(function: Callable, relative: bool, a: Array, b: Array, c: Array) -> Array:
    """(f[a, b] − f[b, c])/(a − c) for a, c the two farthest apart. Half the mean of f″ where all are near."""
    a, b, c = jnp.broadcast_arrays(a, b, c)
    high, low = jnp.maximum(jnp.maximum(a, b), c), jnp.minimum(jnp.minimum(a, b), c)
    middle = jnp.maximum(jnp.minimum(a, b), jnp.minimum(jnp.maximum(a, b), c))
    near = high - low <= _scale(relative, high)
    nodes, weights = (jnp.asarray(x, a.dtype) for x in (_NODES, _WEIGHTS))
    # Over the triangle of averages: t from `low` to a point s of the way from `middle` to `high`.
    ends = (middle - low)[..., None] + jnp.einsum("...,s->...s", high - middle, nodes)
    points = low[..., None, None] + jnp.einsum("...s,t->...st", jnp.where(near[..., None], ends, 0.0), nodes)
    mean = jnp.einsum("...st,s,t->...", _slope(_slope(function))(points), weights, weights * nodes)
    apart = _divided_difference(function, relative, high, middle) - _divided_difference(function, relative, middle, low)
    return jnp.where(near, mean, apart / jnp.where(near, 1.0, high - low))


def _scale(relative: bool, largest: Array) -> Array:
    return 0.4 * largest if relative else jnp.full_like(largest, 0.4)


def _slope(function: Callable) -> Callable:
    return lambda x: jax.jvp(function, (x,), (jnp.ones_like(x),))[1]


def _series(square: Square, small: Array, coefficients: list[float]) -> Square:
    """Σ c_k (−q)^k where `small`."""
    square, total = -jnp.where(small, square, 0.0), jnp.zeros_like(square)
    for coefficient in reversed(coefficients):
        total = total * square + coefficient
    return total

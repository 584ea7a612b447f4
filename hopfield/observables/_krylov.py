"""Eigenvalue of the largest magnitude from products J v alone: Krylov's basis, and the small matrix of J in it."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hopfield._numerics import largest, safe_norm, tolerance
from hopfield.separations.base import nonzero
from hopfield.spaces import State


def krylov(linear: Callable, start: State, steps: int) -> tuple[Array, Array]:
    """Orthonormal basis [steps, N] of start, J start, J² start … (zero rows once they are exhausted) and J times it."""

    def extend(basis: Array, j: Array) -> tuple[Array, Array]:
        image = linear(basis[j])
        new = image - (basis @ image) @ basis
        new = new - (basis @ new) @ basis  # twice is enough (Kahan; Parlett 1980)
        size = safe_norm(new)
        spent = size <= tolerance(new.dtype) * safe_norm(image)
        return basis.at[j + 1].set(jnp.where(spent, 0.0, new / jnp.where(spent, 1.0, size))), image

    basis = jnp.zeros((steps + 1, start.size), start.dtype).at[0].set(start)
    basis, images = jax.lax.scan(extend, basis, jnp.arange(steps))
    return basis[:-1], images


def dominant(matrix: Float[Array, "K K"]) -> tuple[Float[Array, ""], Float[Array, "K"]]:
    """Eigenvalue of the largest magnitude of a small matrix, if it is real, and its eigenvector.

    By squaring, P = (matrix ± c)^(2^50): the other eigenvalues vanish unless they are within a part in 10¹³; an
    eigenvalue of the other sign vanishes even if as large. Unlike `eig` it runs on every device and needs no symmetry.
    """
    size = largest(jnp.abs(matrix))
    matrix = matrix / nonzero(size)
    shift = jnp.sqrt(jnp.sum(matrix * matrix)) * jnp.eye(len(matrix), dtype=matrix.dtype)
    values, vectors = jax.vmap(_foremost, (None, 0))(matrix, jnp.stack([shift, -shift]))
    chosen = jnp.argmax(jnp.abs(values))
    return size * values[chosen], vectors[chosen]


def _foremost(matrix: Float[Array, "K K"], shift: Float[Array, "K K"]) -> tuple[Float[Array, ""], Float[Array, "K"]]:
    """Eigenvalue λ with the largest |λ + shift|, and its eigenvector."""

    def square(_, power: Array) -> Array:
        power = power @ power
        return power / nonzero(largest(jnp.abs(power)))

    power = jax.lax.fori_loop(0, 50, square, matrix + shift)
    value = jnp.trace(power @ matrix) / nonzero(jnp.trace(power))
    return value, power[:, jnp.argmax(jnp.sum(power * power, axis=0))]

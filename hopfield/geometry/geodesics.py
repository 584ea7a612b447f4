"""Flows to unit time, and the root of a shooting problem: bounded loops that say how far they came."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float, Int
from scipy.integrate import DOP853

Vector = Float[Array, "n"]
STAGES = np.pad(np.vstack([DOP853.A, DOP853.B]), ((0, 0), (0, 1)))
"""Row s makes stage s from those before it; the last stage is at the end of the step."""
STEPS = 256


class LogInfo(NamedTuple):
    """Account of how a logarithm came about.

    Example:
        >>> from hopfield.geometry import manifolds
        >>> flat = lambda x: jnp.eye(2)
        >>> tangent, info = manifolds.log(jnp.array([1.0, 0.0]), jnp.zeros(2), flat)
        >>> info.converged.item()
        True
    """

    residual: Float[Array, ""]
    """Distance, in coordinates, from the end of the found geodesic to the point; inf if none was found."""
    iterations: Int[Array, ""]
    """Geodesics that were tried."""
    converged: Bool[Array, ""]
    """True if the residual is within the tolerance."""


def unit_time_flow(rate: Callable[[Vector], Vector], start: Vector, tolerance: ArrayLike) -> Vector:
    """y(1) of ẏ = rate(y), y(0) = start. NaN where 256 steps do not reach the end, as in front of a singularity.

    Adaptive steps of order 8, differentiable in both modes.

    Args:
        tolerance: of the error of a step, relative to 1 + |y|; at least ten units in the last place.
    Source: Hairer, Nørsett & Wanner, Solving Ordinary Differential Equations I, §II.5 (DOP853), coefficients of scipy.
    """
    stages, weights = jnp.asarray(STAGES, start.dtype), jnp.asarray(DOP853.B, start.dtype)
    fifth, third = jnp.asarray(DOP853.E5, start.dtype), jnp.asarray(DOP853.E3, start.dtype)
    tolerance = jnp.maximum(jnp.asarray(tolerance, start.dtype), 10 * jnp.finfo(start.dtype).eps)

    def step(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        t, y, size = state

        def stage(s: int, slopes: Array) -> Array:
            return slopes.at[s].set(rate(y + size * (stages[s] @ slopes)).astype(y.dtype))

        slopes = jax.lax.fori_loop(0, len(STAGES), stage, jnp.zeros((len(STAGES), y.size), y.dtype))
        end = y + size * (weights @ slopes[:-1])
        scale = tolerance * (1.0 + jnp.maximum(jnp.abs(y), jnp.abs(end)))
        five, three = (jnp.sum(((e @ slopes) / scale) ** 2) for e in (fifth, third))
        under = five + 0.01 * three
        error = size * five / jnp.sqrt(jnp.where(under > 0, under, 1.0) * y.size)
        fits = error <= 1
        factor = jnp.where(error > 0, 0.9 * jnp.maximum(error, 1e-10) ** (-1 / 8), 10.0)
        factor = jnp.where(jnp.isfinite(error), jnp.clip(factor, 0.2, 10.0), 0.2)
        last = size >= 1.0 - t
        reached = jnp.where(last, 1.0, t + size)
        t, y = jnp.where(fits, reached, t), jnp.where(fits, end, y)
        return t, y, jax.lax.stop_gradient(jnp.minimum(size * factor, jnp.where(t < 1, 1.0 - t, 1.0)))

    def body(state, _):
        return jax.lax.cond(state[0] < 1, step, lambda same: same, state), None

    number = lambda x: jnp.asarray(x, start.dtype)
    (t, y, _), _ = jax.lax.scan(body, (number(0.0), start, number(1 / 16)), None, length=STEPS)
    return jnp.where(t < 1, jnp.nan, y)


def shoot(
    miss: Callable[[Vector], Vector], start: Vector, *, tolerance: ArrayLike, max_iterations: ArrayLike = 50
) -> tuple[Vector, LogInfo]:
    """The root of `miss` by Newton steps from `start`, halved until they come nearer. It is differentiable.

    Args:
        tolerance: of ‖miss‖; at least a hundred units in the last place.
        max_iterations: values of `miss` at most.
    Returns:
        The best vector found, and whether it is a root.
    """
    tolerance = jnp.maximum(jnp.asarray(tolerance, start.dtype), 100 * jnp.finfo(start.dtype).eps)

    def solve(function, start):
        both = jax.jacfwd(lambda x: (function(x),) * 2, has_aux=True)

        def step(state):
            count, best, gap, move, rate = state
            candidate = best - rate * move
            slope, value = both(candidate)
            distance = jnp.linalg.norm(value)
            nearer = distance < gap  # never for NaN
            best = jnp.where(nearer, candidate, best)
            move = jnp.where(nearer, jnp.linalg.solve(slope, value), move)
            return count + 1, best, jnp.where(nearer, distance, gap), move, jnp.where(nearer, 1.0, 0.5 * rate)

        def unsettled(state):
            return (state[0] < max_iterations) & (state[2] > tolerance) & ~jnp.any(jnp.isnan(state[1]))

        one, far = jnp.ones((), start.dtype), jnp.asarray(jnp.inf, start.dtype)
        state = (jnp.zeros((), jnp.int32), start, far, jnp.zeros_like(start), one)
        count, best, gap, _, _ = jax.lax.while_loop(unsettled, step, state)
        return best, (gap, jnp.asarray(count, gap.dtype))  # what `custom_root` hands on must be floating-point

    def tangent_solve(linear, y):
        return jnp.linalg.solve(jax.jacfwd(linear)(y), y)

    root, (gap, count) = jax.lax.custom_root(miss, start, solve, tangent_solve, has_aux=True)
    return root, LogInfo(gap, count.astype(jnp.int32), gap <= tolerance)

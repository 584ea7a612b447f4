"""Conjugate gradients of vectors, as one loop in a compiled function."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float, Int

from hopfield._arrays import Tree
from hopfield._numerics import largest, power_of_two, wide


class SolveInfo(NamedTuple):
    """Account of how a solution came about.

    Example:
        >>> from hopfield.fisher import fisher, gaussian
        >>> model, x = lambda params, x: x @ params, jnp.array([[1.0, 0.0], [0.0, 2.0]])
        >>> F = fisher(model, jnp.zeros((2, 1)), likelihood=gaussian(1.0), inputs=x)
        >>> step, info = F.solve(jnp.ones((2, 1)), damping=1e-3)
        >>> info.converged.item()
        True
    """

    residual: Float[Array, ""]
    """‖b − (A + λ I) x‖ / ‖b‖."""
    iterations: Int[Array, ""]
    """Products spent; 0 for direct solvers."""
    converged: Bool[Array, ""]
    """Whether the residual is finite and within the tolerance."""


STEP, MEASURE, DONE = 0, 1, 2
"""What a pass of conjugate gradients takes its product of: the next direction, or the solution that it measures."""


class _State(NamedTuple):
    mode: Int[Array, ""]
    iteration: Int[Array, ""]
    begun: Int[Array, ""]  # iterations when the residual was last measured
    x: Float[Array, "P"]
    residual: Float[Array, "P"]
    direction: Float[Array, "P"]
    slope: Float[Array, ""]  # rᵀ M⁻¹ r
    square: Float[Array, ""]  # rᵀ r
    least: tuple[Array, Array]  # x and rᵀ r where the residual that steps carry along is least
    best: tuple[Array, Array]  # where the one that was measured is
    alive: Bool[Array, ""]
    spoilt: Bool[Array, ""]  # the right-hand side or a product is not finite


def flattened(tree: Tree) -> tuple[Float[Array, "P"], Callable[[Array], Tree]]:
    """One vector of all leaves, in single precision at least, and the way back to their shapes and types.

    The barriers keep the compiler from writing the pieces of a vector into every sum that it stands in.
    """
    vector, unravel = ravel_pytree(jax.tree.map(wide, tree))
    shaped = lambda v: jax.tree.map(lambda x, y: x.astype(y.dtype), unravel(jax.lax.optimization_barrier(v)), tree)
    return jax.lax.optimization_barrier(vector), shaped


def flat_conjugate_gradient(
    product: Callable[[Array], Array],
    right: Float[Array, "P"],
    damping: ArrayLike,
    preconditioner: Callable[[Array], Array] | None,
    x0: Float[Array, "P"] | None,
    tolerance: ArrayLike,
    max_iterations: int,
) -> tuple[Float[Array, "P"], SolveInfo]:
    """`conjugate_gradient` of vectors, as a part of a compiled function.

    Every pass of its one loop takes one product, of a direction or of a solution whose residual is measured, so that
    the model stands in the program once.
    """
    whole = power_of_two(largest(jnp.abs(right)))
    right = right / whole
    size = jnp.sum(right * right)
    scale = jnp.where(size == 0, 1.0, jnp.sqrt(size))
    precondition = preconditioner or (lambda r: r)

    def running(state: _State) -> Array:
        return state.alive & (state.iteration < max_iterations) & (jnp.sqrt(state.square) > tolerance * scale)

    def advance(state: _State) -> _State:
        vector = jnp.where(state.mode == STEP, state.direction, state.least[0])
        image = product(vector) + damping * vector
        moved = jax.lax.cond(state.mode == STEP, _stepped, partial(_measured, right), state, image)
        raised = precondition(moved.residual)
        slope = jnp.sum(moved.residual * raised)
        ratio = jnp.where(state.mode == STEP, slope / jnp.where(state.slope > 0, state.slope, 1.0), 0.0)
        alive = moved.alive & jnp.isfinite(moved.square) & jnp.isfinite(slope) & (slope > 0)
        moved = moved._replace(slope=slope, direction=raised + ratio * moved.direction, alive=alive)
        ended = jnp.where(state.mode == STEP, MEASURE, DONE)
        mode = jnp.where(running(moved) & (moved.mode != DONE), STEP, ended).astype(jnp.int32)
        return moved._replace(mode=mode)

    first = _first_state(right, precondition, None if x0 is None else x0 / whole)
    if x0 is None:
        first = first._replace(mode=jnp.where(running(first), STEP, MEASURE).astype(jnp.int32))
    last = jax.lax.while_loop(lambda state: state.mode != DONE, advance, first)
    spoil = lambda leaf: jnp.where(last.spoilt, jnp.nan, leaf)
    relative = spoil(jnp.sqrt(last.best[1]) / scale)
    return spoil(last.best[0] * whole), SolveInfo(relative, last.iteration, relative <= tolerance)


def _first_state(right: Array, precondition: Callable[[Array], Array], x0: Array | None) -> _State:
    """State that measures a start, or steps from zero."""
    zero, none, size = jnp.zeros_like(right), jnp.zeros((), jnp.int32), jnp.sum(right * right)
    raised = right if x0 is not None else precondition(right)
    slope, finite = jnp.sum(right * raised), jnp.isfinite(size)
    start = zero if x0 is None else x0
    return _State(
        mode=none + MEASURE,
        iteration=none,
        begun=none - (x0 is not None),
        x=start,
        residual=right,
        direction=raised,
        slope=slope,
        square=size,
        least=(start, size),
        best=(zero, jnp.full_like(size, jnp.inf)),
        alive=finite & jnp.isfinite(slope) & (slope > 0),
        spoilt=~finite,
    )


def _stepped(state: _State, image: Array) -> _State:
    """State after a step along the direction, of which `image` is the product."""
    curvature = jnp.sum(state.direction * image)
    rate = state.slope / jnp.where(curvature > 0, curvature, 1.0)
    x, residual = state.x + rate * state.direction, state.residual - rate * image
    square = jnp.sum(residual * residual)
    fine = (curvature > 0) & jnp.isfinite(square) & jnp.isfinite(jnp.sum(x * x))
    x, square = selected(fine, (x, square), (state.x, state.square))
    least = selected(fine & (square < state.least[1]), (x, square), state.least)
    return state._replace(
        iteration=state.iteration + 1,
        x=x,
        residual=residual,
        square=square,
        least=least,
        alive=fine,
        spoilt=~jnp.isfinite(curvature),
    )


def _measured(right: Array, state: _State, image: Array) -> _State:
    """State that begins again at the solution of which `image` is the product, or is done if that is no better.

    The residual that steps carry along goes on falling where rounding has stopped the one that is left. A start that
    is worse than zero, or not finite, is left out.
    """
    x, left = state.least[0], right - image
    square = jnp.sum(left * left)
    first = state.begun < 0
    useless = first & ~(square <= jnp.sum(right * right))
    x, left, square = selected(useless, (jnp.zeros_like(x), right, jnp.sum(right * right)), (x, left, square))
    better = ~(square >= state.best[1])
    best = selected(better, (x, square), state.best)
    goes_on = first | (better & (state.iteration > state.begun))
    return state._replace(
        mode=jnp.where(goes_on, MEASURE, DONE).astype(jnp.int32),
        begun=state.iteration,
        x=x,
        residual=left,
        square=square,
        least=(x, square),
        best=best,
        alive=jnp.ones((), bool),
    )


def selected(condition: Array, chosen: Tree, other: Tree) -> Tree:
    """One tree or the other, in the types of the other."""
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b).astype(b.dtype), chosen, other)

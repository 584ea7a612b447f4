"""Conjugate gradients of vectors, as one loop in a compiled function."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, cast

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
        >>> from hopfield.fisher import Gaussian, fisher
        >>> model, x = lambda params, x: x @ params, jnp.array([[1.0, 0.0], [0.0, 2.0]])
        >>> F = fisher(model, jnp.zeros((2, 1)), likelihood=Gaussian(1.0), inputs=x)
        >>> step, info = F.solve(jnp.ones((2, 1)), damping=1e-3)
        >>> info.converged.item()
        True
    """

    residual: Float[Array, ""]
    """‖b − (A + λ I) x‖ / ‖b‖."""
    iterations: Int[Array, ""]
    """Steps of conjugate gradients; 0 for direct solvers."""
    products: Int[Array, ""]
    """Products with A that were taken, with the products that measure the residual."""
    converged: Bool[Array, ""]
    """True if the residual is finite and within the tolerance."""


STEP, MEASURE, BEGIN, DONE = 0, 1, 2, 3
"""Vector that a pass of conjugate gradients multiplies: the next direction, the solution to measure, or none while it
makes the right-hand side."""


class _State(NamedTuple):
    mode: Int[Array, ""]
    right: Float[Array, "P"]
    unit: Float[Array, ""]  # of all vectors: a power of two near the largest entry of the right-hand side
    iteration: Int[Array, ""]
    products: Int[Array, ""]
    begun: Int[Array, ""]  # iterations when the residual was last measured
    x: Float[Array, "P"]
    residual: Float[Array, "P"]
    direction: Float[Array, "P"]
    slope: Float[Array, ""]  # rᵀ M⁻¹ r
    square: Float[Array, ""]  # rᵀ r
    least: tuple[Array, Array]  # x and rᵀ r where the residual that steps carry along is least
    best: tuple[Array, Array, Array]  # where the one that was measured is, with A x
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
    product: Callable[[Array, Array], Array],
    right: Float[Array, "P"] | None,
    damping: ArrayLike,
    preconditioner: Callable[[Array], Array] | None,
    x0: Float[Array, "P"] | None,
    tolerance: ArrayLike,
    max_iterations: int,
) -> tuple[Float[Array, "P"], Float[Array, "P"], Float[Array, "P"], SolveInfo]:
    """`conjugate_gradient` of vectors, as a part of a compiled function: x, A x, the right-hand side, the account.

    Every pass of its one loop takes one product, of a direction or of a solution whose residual is measured, so that
    the model stands in the program once. If the right-hand side is None the first pass makes it, product(x0, True).
    """
    precondition = preconditioner or (lambda r: r)
    started = partial(_first_state, precondition=precondition, x0=x0)

    running = partial(_running, tolerance=tolerance, max_iterations=max_iterations)
    begun = lambda state: jnp.where(running(state) & (x0 is None), STEP, MEASURE)

    def advance(state: _State) -> _State:
        vector = jnp.where(state.mode == STEP, state.direction, state.least[0])
        plain = product(vector, state.mode == BEGIN)
        kinds = _stepped, _measured, lambda _, images: started(images[1])
        moved = jax.lax.switch(state.mode, kinds, state, (plain + damping * vector, plain))
        raised = precondition(moved.residual)
        slope = jnp.sum(moved.residual * raised)
        ratio = jnp.where(state.mode == STEP, slope / jnp.where(state.slope > 0, state.slope, 1.0), 0.0)
        alive = moved.alive & jnp.isfinite(moved.square) & jnp.isfinite(slope) & (slope > 0)
        products = state.products + (state.mode != BEGIN)
        moved = moved._replace(slope=slope, direction=raised + ratio * moved.direction, alive=alive, products=products)
        ended = jnp.where(state.mode == STEP, MEASURE, DONE)
        going = jnp.where(running(moved) & (moved.mode != DONE), STEP, ended)
        return moved._replace(mode=jnp.where(state.mode == BEGIN, begun(moved), going).astype(jnp.int32))

    first = started(jnp.zeros_like(cast(Array, x0)) if right is None else right)
    mode = jnp.full((), BEGIN) if right is None else begun(first)
    first = first._replace(mode=mode.astype(jnp.int32))
    last = jax.lax.while_loop(lambda state: state.mode != DONE, advance, first)
    spoil = lambda leaf: jnp.where(last.spoilt, jnp.nan, leaf)
    relative, (found, _, image) = spoil(jnp.sqrt(last.best[1]) / _length(last.right)), last.best
    info = SolveInfo(relative, last.iteration, last.products, relative <= tolerance)
    return spoil(found * last.unit), spoil(image * last.unit), last.right * last.unit, info


def _running(state: _State, tolerance: ArrayLike, max_iterations: int) -> Array:
    """True if there is another step to take."""
    left = jnp.sqrt(state.square) > tolerance * _length(state.right)
    return state.alive & (state.iteration < max_iterations) & left


def _length(right: Float[Array, "P"]) -> Float[Array, ""]:
    """Length of the right-hand side, 1 if it is zero."""
    size = jnp.sum(right * right)
    return jnp.where(size == 0, 1.0, jnp.sqrt(size))


def _first_state(right: Array, precondition: Callable[[Array], Array], x0: Array | None) -> _State:
    """State that measures a start, or steps from zero."""
    unit = power_of_two(largest(jnp.abs(right)))
    right = right / unit
    zero, none, size = jnp.zeros_like(right), jnp.zeros((), jnp.int32), jnp.sum(right * right)
    raised = right if x0 is not None else precondition(right)
    slope, finite = jnp.sum(right * raised), jnp.isfinite(size)
    start = zero if x0 is None else x0 / unit
    return _State(
        mode=none + MEASURE,
        right=right,
        unit=unit,
        iteration=none,
        products=none,
        begun=none - (x0 is not None),
        x=start,
        residual=right,
        direction=raised,
        slope=slope,
        square=size,
        least=(start, size),
        best=(zero, jnp.full_like(size, jnp.inf), zero),
        alive=finite & jnp.isfinite(slope) & (slope > 0),
        spoilt=~finite,
    )


def _stepped(state: _State, images: tuple[Array, Array]) -> _State:
    """State after a step along the direction, whose product is the first of `images`."""
    image, _ = images
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


def _measured(state: _State, images: tuple[Array, Array]) -> _State:
    """State that begins again at the solution whose products are `images`, or is done if the solution is no better.

    The updated residual keeps falling after rounding has stopped the true one, b − A x; so it is computed anew. A start
    that is worse than zero, or not finite, is left out.
    """
    right, x, image = state.right, state.least[0], images[1]
    left = right - images[0]
    square = jnp.sum(left * left)
    first = state.begun < 0
    useless = first & ~(square <= jnp.sum(right * right))
    nothing = jnp.zeros_like(x), right, jnp.sum(right * right), jnp.zeros_like(x)
    x, left, square, image = selected(useless, nothing, (x, left, square, image))
    better = ~(square >= state.best[1])
    best = selected(better, (x, square, image), state.best)
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

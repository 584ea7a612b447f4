"""Solvers of (A + λ I) x = b for a positive semi-definite A: conjugate gradients over pytrees, and dense factors."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float, Int

from hopfield._arrays import Tree
from hopfield._numerics import accumulation_dtype, largest, power_of_two, wide


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


def dot(a: Tree, b: Tree) -> Float[Array, ""]:
    """Sum of the products of all entries."""
    return jnp.asarray(sum(jnp.sum(x * y) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)))


def axpy(factor: ArrayLike, a: Tree, b: Tree) -> Tree:
    """factor · a + b, in the types of b."""
    return jax.tree.map(lambda x, y: (factor * x + y).astype(y.dtype), a, b)


def unit(tree: Tree) -> Array:
    """A power of two just above the largest entry: sums of squares of a tree over it neither vanish nor overflow."""
    return power_of_two(jnp.max(jnp.stack([largest(jnp.abs(x)) for x in jax.tree.leaves(tree)])))


def over(tree: Tree, size: Array) -> Tree:
    """The tree divided by a number. Leaves keep their types."""
    return jax.tree.map(lambda x: (x / size).astype(x.dtype), tree)


def norm(tree: Tree) -> Array:
    """Root of the sum of all squares, at any scale."""
    size = unit(tree)
    small = over(tree, size)
    return size * jnp.sqrt(dot(small, small))


def solution(
    product: Callable[[Tree], Tree], x: Tree, b: Tree, damping: ArrayLike, tolerance: float
) -> tuple[Tree, SolveInfo]:
    """x with its measured residual, for a direct solver."""
    left = axpy(-1.0, axpy(damping, x, product(x)), b)
    size = norm(b)
    residual = norm(left) / jnp.where(size == 0, 1.0, size)
    return x, SolveInfo(residual, jnp.zeros((), jnp.int32), residual <= tolerance)


@partial(jax.jit, static_argnames=("product", "preconditioner", "max_iterations"))
def conjugate_gradient(
    product: Callable[[Tree], Tree],
    b: Tree,
    *,
    damping: ArrayLike = 0.0,
    preconditioner: Callable[[Tree], Tree] | None = None,
    x0: Tree | None = None,
    tolerance: float = 1e-6,
    max_iterations: int = 100,
) -> tuple[Tree, SolveInfo]:
    """Preconditioned conjugate gradients, bounded, for a product that may be singular.

    Stops at a relative residual of `tolerance`, at a direction of no or negative curvature, or at a step that
    overflows, and returns the iterate of least residual; NaN where b or a product is not finite.

    Args:
        product: x ↦ A x on pytrees like b. Compiled once per function, so that it is best one that is made once.
        b: right-hand side.
        damping: λ ≥ 0, a number or traced.
        preconditioner: r ↦ M⁻¹ r with M ≈ A + λ I positive definite.
        x0: start, left out where it is not finite or worse than zero.
        tolerance: on ‖b − (A + λ I) x‖ / ‖b‖.
        max_iterations: static.
    Source: Hestenes & Stiefel, J. Res. NBS 49, 409 (1952).
    """
    return inlined_conjugate_gradient(product, b, damping, preconditioner, x0, tolerance, max_iterations)


def inlined_conjugate_gradient(
    product: Callable[[Tree], Tree],
    b: Tree,
    damping: ArrayLike,
    preconditioner: Callable[[Tree], Tree] | None,
    x0: Tree | None,
    tolerance: ArrayLike,
    max_iterations: int,
) -> tuple[Tree, SolveInfo]:
    """`conjugate_gradient` as a part of a compiled function, of a product that is made there."""
    right, shaped = flattened(b)
    flat = lambda tree: flattened(tree)[0].astype(right.dtype)
    inverse = None if preconditioner is None else lambda r: flat(preconditioner(shaped(r)))
    start = None if x0 is None else flat(x0)
    of = lambda v: flat(product(shaped(v)))
    solved, info = flat_conjugate_gradient(of, right, damping, inverse, start, tolerance, max_iterations)
    return shaped(solved), info


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

    zero, none, finite = jnp.zeros_like(right), jnp.zeros((), jnp.int32), jnp.isfinite(size)
    raised = right if x0 is not None else precondition(right)
    slope = jnp.sum(right * raised)
    start = zero if x0 is None else x0 / whole
    first = _State(
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
    if x0 is None:
        first = first._replace(mode=jnp.where(running(first), STEP, MEASURE).astype(jnp.int32))
    last = jax.lax.while_loop(lambda state: state.mode != DONE, advance, first)
    spoil = lambda leaf: jnp.where(last.spoilt, jnp.nan, leaf)
    relative = spoil(jnp.sqrt(last.best[1]) / scale)
    return spoil(last.best[0] * whole), SolveInfo(relative, last.iteration, relative <= tolerance)


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


@jax.jit  # as a program of its own, which is not compiled again at every call from Python
def dense_solve(matrix: Float[Array, "P P"], b: Float[Array, "P *c"], damping: ArrayLike) -> Float[Array, "P *c"]:
    """(A + λ I)⁻¹ b by Cholesky. If the factor does not exist, by the spectrum without its non-positive part."""
    wide = accumulation_dtype(matrix.dtype)  # half precision has no factors
    damped = matrix.astype(wide) + damping * jnp.eye(matrix.shape[0], dtype=wide)
    columns = b.reshape(b.shape[0], -1).astype(wide)
    solved = jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(damped), True), columns)

    def spectral(_):
        levels, vectors = jnp.linalg.eigh(damped)
        usable = levels > levels[-1] * matrix.shape[0] * jnp.finfo(wide).eps
        inverse = jnp.where(usable, 1.0 / jnp.where(usable, levels, 1.0), 0.0)
        return vectors @ (inverse[:, None] * (vectors.T @ columns))

    solved = jax.lax.cond(jnp.all(jnp.isfinite(solved)), lambda _: solved, spectral, None)
    return solved.reshape(b.shape).astype(b.dtype)

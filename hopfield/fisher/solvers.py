"""Solvers of (A + λ I) x = b for a positive semi-definite A: conjugate gradients over pytrees, and dense factors."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float, Int

from hopfield._arrays import Tree
from hopfield._numerics import accumulation_dtype, largest, power_of_two


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


class _State(NamedTuple):
    iteration: Int[Array, ""]
    x: Tree
    residual: Tree
    direction: Tree
    slope: Float[Array, ""]  # rᵀ M⁻¹ r
    square: Float[Array, ""]  # rᵀ r
    best: tuple[Tree, Array]
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
    precondition = preconditioner or (lambda r: r)
    whole = unit(b)
    b, x0 = over(b, whole), None if x0 is None else over(x0, whole)
    size = dot(b, b)
    scale = jnp.where(size == 0, 1.0, jnp.sqrt(size))

    def apply(x: Tree) -> Tree:
        return axpy(damping, x, product(x))

    def running(state: _State) -> Array:
        return state.alive & (state.iteration < max_iterations) & (jnp.sqrt(state.square) > tolerance * scale)

    def restart(carry: tuple) -> tuple:
        # The residual that steps carry along goes on falling where rounding has stopped the one that is left.
        before, best, _ = carry
        last = jax.lax.while_loop(running, lambda state: _step(state, apply, precondition), before)
        left = axpy(-1.0, apply(last.best[0]), b)
        square = dot(left, left)
        better = ~(square >= best[1])
        best = selected(better, (last.best[0], square), best)
        again = _state_at(last.best[0], left, precondition, last.iteration, last.spoilt)
        return again, best, better & (last.iteration > before.iteration)

    start = _state_at(*_start(apply, b, x0), precondition, jnp.zeros((), jnp.int32), ~jnp.isfinite(size))
    carry = start, (start.x, jnp.full_like(size, jnp.inf)), jnp.ones((), bool)
    last, best, _ = jax.lax.while_loop(lambda carry: carry[2] & running(carry[0]), restart, restart(carry))
    solved, relative = jax.tree.map(
        lambda leaf: jnp.where(last.spoilt, jnp.nan, leaf).astype(leaf.dtype), (best[0], jnp.sqrt(best[1]) / scale)
    )
    solved = jax.tree.map(lambda leaf: (leaf * whole).astype(leaf.dtype), solved)
    return solved, SolveInfo(relative, last.iteration, relative <= tolerance)


def _state_at(x: Tree, residual: Tree, precondition: Callable[[Tree], Tree], count: Array, spoilt: Array) -> _State:
    """State of an iteration that begins, or begins again, at x."""
    raised, square = precondition(residual), dot(residual, residual)
    slope = dot(residual, raised)
    alive = jnp.isfinite(square) & (slope > 0) & jnp.isfinite(slope)
    return _State(count, x, residual, raised, slope, square, (x, square), alive, spoilt)


def _step(state: _State, apply: Callable[[Tree], Tree], precondition: Callable[[Tree], Tree]) -> _State:
    image = apply(state.direction)
    curvature = dot(state.direction, image)
    rate = state.slope / jnp.where(curvature > 0, curvature, 1.0)
    x, residual = axpy(rate, state.direction, state.x), axpy(-rate, image, state.residual)
    raised = precondition(residual)
    square, slope = dot(residual, residual), dot(residual, raised)
    fine = (curvature > 0) & jnp.isfinite(square) & jnp.isfinite(slope) & jnp.isfinite(dot(x, x))
    x, square = selected(fine, (x, square), (state.x, state.square))
    best = selected(fine & (square < state.best[1]), (x, square), state.best)
    direction = axpy(slope / jnp.where(state.slope > 0, state.slope, 1.0), state.direction, raised)
    alive, spoilt = fine & (slope > 0), ~jnp.isfinite(curvature)
    return _State(state.iteration + 1, x, residual, direction, slope, square, best, alive, spoilt)


def _start(apply: Callable[[Tree], Tree], b: Tree, x0: Tree | None) -> tuple[Tree, Tree]:
    """Start and its residual. Zero replaces a given start that has a larger residual or is not finite."""
    zero = jax.tree.map(jnp.zeros_like, b)
    if x0 is None:
        return zero, b
    residual = axpy(-1.0, apply(x0), b)
    return selected(dot(residual, residual) <= dot(b, b), (x0, residual), (zero, b))


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

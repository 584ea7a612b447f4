"""Solvers of (A + λ I) x = b for a positive semi-definite A: conjugate gradients over pytrees, and dense factors."""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._arrays import Tree
from hopfield._numerics import accumulation_dtype, largest, power_of_two
from hopfield.fisher._conjugate_gradients import SolveInfo, flat_conjugate_gradient, flattened


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
    return x, SolveInfo(residual, jnp.zeros((), jnp.int32), jnp.ones((), jnp.int32), residual <= tolerance)


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
        x0: start; ignored if not finite or worse than zero.
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
    of = lambda v, _: flat(product(shaped(v)))
    solved, _, _, info = flat_conjugate_gradient(of, right, damping, inverse, start, tolerance, max_iterations)
    return shaped(solved), info


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

"""Programs of a Fisher information, each compiled once for one model and one set of shapes."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._arrays import Tree
from hopfield.fisher.block_forms import BlockDiagonal
from hopfield.fisher.solvers import SolveInfo, dense_solve, dot, inlined_conjugate_gradient, solution


class Linear(NamedTuple):
    """A model at its parameters: its outputs, and the products with its Jacobian and its transpose."""

    outputs: Array
    push: Callable[[Tree], Array]
    pull: Callable[[Array], tuple[Tree]]


def linearised(model: Callable[[Tree], Array], params: Tree) -> Linear:
    """A model linearised once for any number of products."""
    outputs, push = jax.linearize(model, params)
    return Linear(outputs, push, jax.linear_transpose(push, params))


def product_by(curvature: Any, linear: Linear) -> Callable[[Tree], Tree]:
    """v ↦ F v by a linearisation of the model that there is."""
    return lambda v: linear.pull(curvature._of_outputs(linear.push(in_types_of(v, curvature.params))))[0]


def quadratic_by(curvature: Any, linear: Linear) -> Callable[[Tree], Array]:
    """v ↦ vᵀ F v by a linearisation of the model that there is."""
    return lambda v: jnp.sum((image := linear.push(v)) * curvature._of_outputs(image))


@jax.jit
def product(curvature: Any, vector: Tree) -> Tree:
    """F v."""
    return curvature.linearised()(vector)


@jax.jit
def quadratic(curvature: Any, vector: Tree) -> Array:
    """vᵀ F v."""
    _, image = jax.jvp(curvature._model, (curvature.params,), (in_types_of(vector, curvature.params),))
    return jnp.sum(image * curvature._of_outputs(image))


@jax.jit
def rows_of(curvature: Any) -> Array:
    """Rows [N, P] whose Gram matrix is F."""
    return flat(curvature._rows(curvature.inputs, curvature._scaled_factor()))


@partial(jax.jit, static_argnames=("statistic",))
def summed_over_rows(curvature: Any, statistic: Callable[[Tree], Tree]) -> Tree:
    """Σ of a statistic over the rows, in batches that fit in memory."""
    return curvature._summed_over_rows(statistic)


@partial(jax.jit, static_argnames=("solver",))
def solved_directly(
    curvature: Any, vector: Tree, damping: ArrayLike, tolerance: float, solver: str
) -> tuple[Tree, SolveInfo]:
    """(F + λ I)⁻¹ v by a dense factor or by the kernel form."""
    vector = in_types_of(vector, curvature.params)
    right, unravel = ravel_pytree(vector)
    solved = unravel(direct(curvature, right, damping, solver))
    return solution(curvature.linearised(), solved, vector, damping, tolerance)


def direct(curvature: Any, vector: Float[Array, "P"], damping: ArrayLike, solver: str) -> Float[Array, "P"]:
    """(F + λ I)⁻¹ v by a dense factor or by the kernel form, as rounding leaves it."""
    if solver == "cholesky":
        return dense_solve(curvature.to_dense(), vector, damping)
    return _woodbury(curvature.rows(), vector, damping)


@partial(jax.jit, static_argnames=("inverse", "max_iterations"))
def solved_by_cg(
    curvature: Any,
    vector: Tree,
    damping: ArrayLike,
    blocks: BlockDiagonal | None,
    x0: Tree | None,
    tolerance: ArrayLike,
    inverse: Callable[[Tree], Tree] | None,
    max_iterations: int,
) -> tuple[Tree, SolveInfo]:
    """(F + λ I)⁻¹ v by conjugate gradients, preconditioned by blocks if there are any."""
    if blocks is not None:
        inverse = lambda r: blocks.solve(r, damping)
    right = in_types_of(vector, curvature.params)
    return inlined_conjugate_gradient(curvature.linearised(), right, damping, inverse, x0, tolerance, max_iterations)


def in_types_of(vector: Tree, params: Tree) -> Tree:
    """A vector in the types of the parameters."""
    return jax.tree.map(lambda v, p: jnp.asarray(v, p.dtype), vector, params)


def gram(rows: Tree) -> Array:
    """rowsᵀ rows [P, P]."""
    matrix = flat(rows)
    return matrix.T @ matrix


def squares(rows: Tree) -> Tree:
    """Σ of the squares of every entry."""
    return jax.tree.map(lambda r: jnp.sum(r * r, axis=0), rows)


def square(rows: Tree) -> Array:
    """Σ of all squares."""
    return dot(rows, rows)


def _woodbury(rows: Float[Array, "N P"], vector: Float[Array, "P"], damping: ArrayLike) -> Float[Array, "P"]:
    """(rowsᵀ rows + λ)⁻¹ v = (v − rowsᵀ (K + λ)⁻¹ rows v)/λ, refined once against the cancellation at small λ."""
    kernel = rows @ rows.T

    def inverse(v: Array) -> Array:
        return (v - rows.T @ dense_solve(kernel, rows @ v, damping)) / damping

    x = inverse(vector)
    return x + inverse(vector - rows.T @ (rows @ x) - damping * x)


def flat(rows: Tree) -> Float[Array, "N P"]:
    """Rows as a matrix [N, P]."""
    return jax.vmap(lambda row: ravel_pytree(row)[0])(rows)

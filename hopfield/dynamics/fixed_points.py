"""Fixed points of a memory's update, differentiable by the implicit function theorem."""

from collections.abc import Callable
from typing import Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array

from hopfield._arguments import real_scalar, step_limit
from hopfield._numerics import tolerance, wide
from hopfield.dynamics.models import Model, as_model
from hopfield.dynamics.retrieval import query_and_known, retrieve
from hopfield.spaces import Known, Space, Spins, State


def fixed_point(
    model: Model,
    state: State,
    *,
    max_steps: int = 1000,
    known: Known | Literal["not_nan"] = None,
    rtol: float | None = None,
) -> State:
    """The fixed point a query converges to, differentiable in the model by the implicit function theorem.

    With x* = update(x*, model), dx* = (1 − ∂update/∂x)⁻¹ ∂update/∂model: nothing of the iteration is stored, and the
    gradient in the query is zero, as for any start inside the basin, but for clamped units. A query that
    needs more than `max_steps` updates, or ends in a 2-cycle, stays where the updates took it, which is no
    fixed point, and the returned gradient is no gradient of it: the status of `retrieve` tells.

    Args:
        model: any `Model` on a continuous space: Memory, `FeatureMemory` or your own.
        state: the query [N].
        max_steps: updates at most.
        known: units clamped to the query's values [N], as for `retrieve`.
        rtol: the step that counts as none, as for `retrieve`.
    Raises:
        ValueError: the model lives on spins, or says of no space, where nothing is differentiable.
    """
    space = getattr(as_model("model", model, Model), "space", model)
    if isinstance(space, Spins) or not isinstance(space, Space):
        kind = type(space).__name__
        raise ValueError(f"model must live in a continuous space to have a differentiable fixed point, got {kind}")
    state, known = query_and_known(model, state, known)
    if rtol is not None:
        rtol = real_scalar("rtol", rtol, "a finite number of at least 0", 0.0)
    end = _fixed_point(model, wide(state), step_limit("max_steps", max_steps), known, rtol)
    return end.astype(state.dtype)


@jax.jit
def _fixed_point(model: Model, state: State, max_steps, known: Known, rtol) -> State:
    start = jax.lax.stop_gradient(state)

    def update(x):
        return model.update(x if known is None else jnp.where(known, state, x), known)

    def krylov(linear, y):
        return jax.scipy.sparse.linalg.gmres(linear, y, tol=tolerance(y.dtype), restart=min(y.size, 32), maxiter=20)[0]

    def settled_state(x):
        return retrieve(model, x, max_steps=max_steps, known=known, rtol=rtol).state

    return implicit(update, start, settled_state, krylov)


def neumann(terms: int) -> Callable:
    """Solver of `implicit` by the Neumann sum −(1 + J + … + J^terms) y, which converges at attracting fixed points.

    States of a batch do not mix, and memory does not grow with the number of terms.
    """

    def solve(linear, y):
        return jax.lax.fori_loop(0, terms, lambda _, x: x + linear(x) - y, -y)

    return solve


def implicit(update: Callable, start: Array, reached: Callable, solve: Callable) -> Array:
    """Fixed points x* = update(x*), differentiated by dx* = (1 − J)⁻¹ ∂update, J being the update's Jacobian.

    Args:
        update: one step; what it closes over is differentiated.
        start: where the iteration begins; the fixed points do not depend on it.
        reached: the states that the iteration comes to from there.
        solve: `solve(linear, y)` of linear(x) = y, linear being J − 1 or its transpose.
    Source: Bai, Kolter & Koltun 2019 (arXiv:1909.01377).
    """

    def tangent_solve(linear, y):
        # Transposed by its own rule: what stops a solver as a function of y cannot be transposed.
        return jax.lax.custom_linear_solve(linear, y, solve, solve)

    return jax.lax.custom_root(lambda x: update(x) - x, start, lambda _, x: reached(x), tangent_solve)

"""Fixed points of a memory's update, differentiable by the implicit function theorem."""

import jax
import jax.numpy as jnp

from hopfield._checks import step_limit
from hopfield._numerics import tolerance
from hopfield.dynamics.asynchronous import as_model
from hopfield.dynamics.retrieval import retrieve
from hopfield.memory import Memory
from hopfield.spaces import Known, Spins, State, as_known


def fixed_point(memory: Memory, state: State, *, max_steps: int = 1000, known: Known = None) -> State:
    """The fixed point a query converges to, differentiable in the memory by the implicit function theorem.

    With x* = update(x*, memory), dx* = (1 − ∂update/∂x)⁻¹ ∂update/∂memory: nothing of the iteration is stored, and the
    gradient in the query is zero, as it is for any start inside the basin (Bai, Kolter & Koltun 2019). A query that
    needs more than `max_steps` updates stays where they took it: `retrieve` says which those are.

    Raises:
        ValueError: the memory lives on spins, where nothing is differentiable.
    """
    if isinstance(as_model("memory", memory).space, Spins):
        raise ValueError("memory must live in a continuous space to have a differentiable fixed point, got Spins")
    state = memory.as_state(state)
    return _fixed_point(memory, state, step_limit("max_steps", max_steps), as_known(known, state))


@jax.jit
def _fixed_point(memory: Memory, state: State, max_steps, known: Known) -> State:
    start = jax.lax.stop_gradient(state)

    def residual(x):
        return memory.update(jnp.where(known, start, x) if known is not None else x, known) - x

    def solve(_, guess):
        return retrieve(memory, guess, max_steps=max_steps, known=known).state

    def krylov(linear, y):
        return jax.scipy.sparse.linalg.gmres(linear, y, tol=tolerance(y.dtype), restart=min(y.size, 32), maxiter=20)[0]

    def tangent_solve(linear, y):
        # gmres alone cannot be transposed, its stopping rule being a function of y.
        return jax.lax.custom_linear_solve(linear, y, krylov, krylov)

    return jax.lax.custom_root(residual, start, solve, tangent_solve)

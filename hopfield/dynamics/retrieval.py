"""Retrieval: iterate a memory until it stops, per query, and trajectories of its updates."""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float, Int

from hopfield._arguments import integer, one_of, real_scalar, step_limit
from hopfield._arrays import Patterns, Scores
from hopfield._numerics import scan, tolerance, while_loop, wide
from hopfield._pytrees import Node, changed
from hopfield.dynamics.asynchronous import relax
from hopfield.dynamics.models import Model, Updates, as_model
from hopfield.dynamics.regimes import NO_WEIGHTS, holding
from hopfield.dynamics.settling import (
    CONVERGED,
    STEP_LIMIT,
    Retrieval,
    alike,
    holds_nan,
    near,
    refuse_no_key,
    settled,
    without_spin,
)
from hopfield.large import while_outside
from hopfield.memory import DYNAMICS, Dynamics, Memory
from hopfield.similarities import Bilinear, Similarity
from hopfield.spaces import Known, Space, Spins, State, as_known

NOT_NAN = "not_nan"
"""Word for `known`: units of the query that are numbers are known, units that are NaN are not."""


def retrieve(
    model: Model,
    state: State,
    *,
    dynamics: Dynamics | str = "synchronous",
    key=None,
    max_steps: int = 100,
    known: Known | Literal["not_nan"] = None,
    rtol: float | None = None,
) -> Retrieval:
    """Run any `Model` from one query to a fixed point, a cycle or `max_steps`. Queries of a batch stop independently.

    Compiled once for each structure of the memory, shape and dynamics; every number may change without compiling again.
    A loop that stops early has no reverse-mode gradient in JAX: differentiate `fixed_point` or `trajectory`.

    Args:
        model: any `Model`: Memory, Couplings, `BinaryNetwork`, `FeatureMemory` or your own; a `SpinModel` where the
            dynamics are not synchronous.
        state: the query [N].
        dynamics: "synchronous" (all neurons at once; every space), "asynchronous" (spins, one at a time in a
            fresh random order every sweep) or "sequential" (spins, order 0 … N−1). On Couplings the last
            two are event-driven.
        key: JAX random key, for "asynchronous" only.
        max_steps: updates, or sweeps, at most.
        known: units clamped to the query's values [N], or "not_nan" for the units that are not NaN. A `Memory` outside
            Spins compares the known units alone in the first step, whatever the others hold; on spins an unknown unit
            begins at its value, or at 0 if that is NaN.
        rtol: step relative to the state's norm that counts as standing still; spins compare exactly.
    Returns:
        Retrieval with status CONVERGED, CYCLE, STEP_LIMIT, also where a field of zero leaves a unit of spins at 0, or
        NOT_A_NUMBER where NaN has come into the state; `period` is the cycle's, longer than 2 on spins alone.
    Raises:
        ValueError: unknown dynamics, a missing key, asynchronous dynamics outside Spins, or max_steps < 1.
    """
    _check_dynamics(as_model("model", model, Model), dynamics, key)
    max_steps = step_limit("max_steps", max_steps)
    state, known = query_and_known(model, state, known)
    if rtol is not None:
        rtol = real_scalar("rtol", rtol, "a finite number of at least 0", 0.0)
    if dynamics == "synchronous":
        run = _walked if isinstance(model, Memory) and model.walked else _synchronous
        return run(model, state, max_steps, known, rtol)
    end = relax(as_model("model", model), state, dynamics=dynamics, key=key, max_steps=max_steps, known=known)
    return end._replace(kind=_kind_of(model, end.state))


def query_and_known(model: Updates, state: ArrayLike, known: Known | str) -> tuple[State, Known]:
    """A query and its known units as arrays. Where the word tells them, NaN of the query becomes 0."""
    if not isinstance(known, str):
        state = model.as_state(state)
        return state, as_known(known, state)
    one_of("known", known, (NOT_NAN,))
    values = jnp.asarray(state)
    known = ~jnp.isnan(values)
    return model.as_state(jnp.where(known, values, 0.0)), known


def _check_dynamics(model: Model, dynamics: str, key) -> None:
    """Check that neither the model's space nor a missing key excludes the dynamics. ValueError otherwise."""
    one_of("dynamics", dynamics, DYNAMICS)
    if dynamics != "synchronous" and not _on_spins(model):
        kind = type(getattr(model, "space", model)).__name__
        raise ValueError(f"dynamics must be synchronous in {kind}, got {dynamics!r}")
    refuse_no_key(dynamics, key)


def _on_spins(model: Model) -> bool:
    return isinstance(getattr(model, "space", None), Spins)


def _run_to_rest(model: Model, state: State, max_steps, known: Known, rtol, loop: Callable) -> Retrieval:
    start = wide(state)  # half precision stands still where its next step is lost to rounding
    first, before = _from_known(model, start, known)
    same = alike if _on_spins(model) else near(tolerance(start.dtype) if rtol is None else rtol, first)
    end = settled(lambda x: model.update(x, known), first, max_steps - before, same, cycles=True, loop=loop)
    reached, status = end.state.astype(state.dtype), end.status
    if _on_spins(model):
        status = jnp.where((status == CONVERGED) & without_spin(end.state, known), STEP_LIMIT, status)
    ended = Retrieval(reached, end.steps + before, model.energy(reached), status, _kind(model, reached))
    return ended._replace(period=jnp.where(status == STEP_LIMIT, 0, jnp.asarray(end.period)))


def _kind(model: Model, state: State) -> Int[Array, ""]:
    """Regime of a state, an index of REGIMES; NO_WEIGHTS for patterns read in passes, which another pass would cost."""
    weighed = isinstance(model, Memory) and not model.walked
    return holding(model, state).kind if weighed else jnp.asarray(NO_WEIGHTS)  # type: ignore[arg-type]


_kind_of = jax.jit(_kind)


class _OfKnown(Node):
    """A similarity that compares some units alone, for one step; whole patterns are read out."""

    compared: Similarity
    known: Bool[Array, "N"]

    def __call__(self, state: State, patterns: Patterns) -> Scores:
        states = not isinstance(self.compared, Bilinear)  # whose patterns are compared through a metric
        rows = jnp.where(self.known[None, :], patterns, 0.0) if states else patterns
        return self.compared(jnp.where(self.known, state, 0.0), rows)

    def of_states(self, states: Float[Array, "Q N"], patterns: Patterns) -> Float[Array, "Q M"]:
        return jax.vmap(self, (0, None))(states, patterns)

    def width(self, patterns: Any) -> int:
        return self.compared.width(patterns)

    def summed(self, patterns: Patterns) -> Float[Array, "M K"]:
        return self.compared.summed(patterns)

    def minimiser(self, state: State, moment: Array, mass: Array, *, space: Space, known: Known = None) -> State:
        return self.compared.minimiser(state, moment, mass, space=space, known=known)

    def proximal_step(self, state: State, patterns: Patterns, weights: Scores, space: Space, known: Known) -> State:
        return self.compared.proximal_step(state, patterns, weights, space, known)


def _from_known(model: Model, state: State, known: Known) -> tuple[State, Array | int]:
    """First step, which compares only the known units: the new state, and 1 if it moved, else 0."""
    if known is None or not isinstance(model, Memory) or isinstance(model.space, Spins):
        return state, 0
    compared: Any = _OfKnown(model.similarity, known)
    new = changed(model, similarity=compared).update(jnp.where(known, state, 0.0), known)
    new = jnp.where(jnp.any(known), new, state)  # nothing is known: an ordinary query
    return new, (jnp.any(new != state) & ~holds_nan(new)).astype(int)


_synchronous = jax.jit(partial(_run_to_rest, loop=while_loop))
_walked = partial(_run_to_rest, loop=while_outside)


def trajectory(model: Updates, state: State, steps: int, *, known: Known = None) -> Float[Array, "T N"]:
    """States visited by `steps` ≥ 0 synchronous updates, the query first [steps + 1, N]. They are differentiable.

    Raises:
        TypeError: the model lacks `as_state` or `update`.
        ValueError: another shape of the state, or steps below 0.
    """
    state = as_model("model", model, Updates).as_state(state)
    return _trajectory(model, state, as_known(known, state), steps=integer("steps", steps, 0))


@partial(jax.jit, static_argnames="steps")
def _trajectory(model: Updates, state: State, known: Known, *, steps: int) -> Float[Array, "T N"]:
    def advance(now, _):
        new = model.update(now, known)
        return new, new

    visited = scan(advance, wide(state), length=steps)[1]
    return jnp.concatenate([state[None], visited.astype(state.dtype)])

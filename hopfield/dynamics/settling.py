"""End of a run, its words and its advice, and the loop of retrieval, in which every query stops by itself."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float, Int

from hopfield._numerics import is_traced, safe_norm, saved_for_derivative, scan, while_loop, wide
from hopfield.dynamics.regimes import NO_WEIGHTS, REGIMES
from hopfield.spaces import Known, State

CONVERGED, CYCLE, STEP_LIMIT, NOT_A_NUMBER = range(4)
STATUS = ("converged", "cycle", "step limit", "not a number")
ADVICE = (
    "at rest",
    "its states return for ever: choose another memory, or asynchronous dynamics where states are spins",
    "still moving, or a spin without a field is 0: allow more steps",
    "not a number: look for NaN or overflow in the state, the patterns and beta",
)
"""Sentences on how a run ended and what to change, by the index of its status."""

WRITTEN_OUT = 4
"""Steps up to which a loop of fixed length is written out."""

States = Float[Array, "*q N"]
Same = Callable[[States, States], Bool[Array, "*q"]]


def _told(texts: tuple[str, ...], index: Any) -> Any:
    """Text of an index; of an array of indices an array of texts."""
    found = np.asarray(texts)[np.asarray(index)]
    return found if np.ndim(found) else str(found)


converged = property(lambda end: end.status == CONVERGED, doc="Whether a state is at rest, neither in a cycle nor cut.")
advice = property(lambda end: _told(ADVICE, end.status), doc="Sentence on how a run ended and what to change.")


class Retrieval(NamedTuple):
    """End of a query: state [N], steps that moved it (updates or sweeps), energy, status, kind, flips and period.

    `status`, an index of STATUS, says how the updates ended, and `advice` what to do about it. `kind`, an index of
    REGIMES, says what holds the state: one pattern, a mixture of some, or the mean of all, as a modern memory at a low
    β gives; `regime` is its word. `flips` counts the spins that asynchronous sweeps turned, one by one. `period` is the
    number of states that follow each other for ever: 1 at rest, 2 or more in a cycle, 0 where a run was cut.

    Example:
        >>> from hopfield import Memory, retrieve
        >>> end = retrieve(Memory(jnp.eye(3), beta=8.0), jnp.array([0.9, 0.1, 0.0]))
        >>> end.converged.item(), end.advice, end.state.argmax().item()
        (True, 'at rest', 0)
        >>> end.regime, retrieve(Memory(jnp.eye(3), beta=1.0), jnp.array([0.9, 0.1, 0.0])).regime
        ('single pattern', 'global average')
    """

    state: State
    steps: Int[Array, ""]
    energy: Float[Array, ""]
    status: Int[Array, ""]
    kind: Int[Array, ""] | int = NO_WEIGHTS
    flips: Int[Array, ""] | int = 0
    period: Int[Array, ""] | int = 0

    converged = converged
    advice = advice
    regime = property(lambda end: _told(REGIMES, end.kind), doc="Word of REGIMES for what holds the state.")

    def __repr__(self) -> str:
        """Fields, with words for the indices whose values are known."""
        words = {"status": STATUS, "kind": REGIMES}
        known = {name: each for name, each in words.items() if not is_traced(getattr(self, name))}
        told = (_told(known[name], value) if name in known else value for name, value in self._asdict().items())
        return f"Retrieval({', '.join(f'{name}={each!r}' for name, each in zip(self._fields, told, strict=True))})"


class Settled(NamedTuple):
    """States [*q, N], the updates that moved them, a status (index of `STATUS`) and, where asked for, a period [*q]."""

    state: States
    steps: Int[Array, "*q"]
    status: Int[Array, "*q"]
    period: Int[Array, "*q"] | None = None


class _Past(NamedTuple):
    """Earlier states [*q, N] that tell a cycle: the last, and one held until twice as many updates (Brent 1980)."""

    last: States
    held: States
    held_at: Int[Array, "*q"]


def holds_nan(state: State) -> Bool[Array, ""]:
    """True if a state holds NaN."""
    return jnp.any(jnp.isnan(state))


def without_spin(state: State, known: Known) -> Bool[Array, ""]:
    """True if a unit that is not clamped is 0, as a field of zero leaves a hidden one."""
    return jnp.any(state == 0) if known is None else jnp.any((state == 0) & ~known)


def refuse_no_key(dynamics: str, key) -> None:
    """Check that a random order has a key. ValueError otherwise."""
    if dynamics == "asynchronous" and key is None:
        raise ValueError("key must be a JAX random key for asynchronous dynamics, got None")


def alike(a: States, b: States) -> Bool[Array, "*q"]:
    """True if all spins of two states are the same."""
    return jnp.all(a == b, axis=-1)


def near(rtol: ArrayLike, start: States) -> Same:
    """True if two states differ by at most `rtol`, relative to the second, or to the start, at most 1, if longer."""
    least = jnp.minimum(safe_norm(wide(start), axis=-1), 1.0)
    least = jnp.where(least == 0, 1.0, least)

    def same(a: States, b: States) -> Bool[Array, "*q"]:
        a, b = wide(a), wide(b)
        return safe_norm(a - b, axis=-1) <= rtol * jnp.maximum(safe_norm(b, axis=-1), least)

    return same


def _initial_carry(state: States, cycles: bool) -> tuple[Settled, _Past | None]:
    status = jnp.where(jnp.any(jnp.isnan(state), axis=-1), NOT_A_NUMBER, STEP_LIMIT)
    steps = jnp.zeros(state.shape[:-1], jnp.result_type(int))
    begun = Settled(state, steps, status.astype(steps.dtype), steps if cycles else None)
    return begun, _Past(state, state, steps) if cycles else None


def _advance(update: Callable, same: Same, carry: tuple[Settled, _Past | None]) -> tuple[Settled, _Past | None]:
    """One more update of the states that have not stopped."""
    now, past = carry
    new, running = update(now.state), now.status == STEP_LIMIT
    still = same(new, now.state)
    status, period = jnp.where(still, CONVERGED, STEP_LIMIT), now.period
    if past is not None:
        period, past = _period(same, now, new, still, past)
        status = jnp.where(period > 1, CYCLE, status)
    wrong = jnp.any(jnp.isnan(new), axis=-1)
    status = jnp.where(wrong, NOT_A_NUMBER, status)
    moved = Settled(
        jnp.where(running[..., None], new, now.state),
        now.steps + (running & ~still).astype(now.steps.dtype),
        saved_for_derivative(jnp.where(running, status, now.status).astype(now.status.dtype)),
        None if period is None else jnp.where(running, jnp.where(wrong, 0, period), jnp.asarray(now.period)),
    )
    return moved, past


def _period(same: Same, now: Settled, new: States, still: Array, past: _Past) -> tuple[Array, _Past]:
    """Period that a new state closes, 1 at rest and 0 if none, and the past after it.

    Longer ones than 2 are found where states are compared exactly, within three times the updates they come after.
    """
    period = jnp.where(still, 1, jnp.where(same(new, past.last) & (now.steps > 0), 2, 0))
    if same is not alike:
        return period, past._replace(last=now.state)
    count = now.steps + 1
    period = jnp.where((period == 0) & same(new, past.held), count - past.held_at, period)
    hold = (count & (count - 1)) == 0
    held = jnp.where(hold[..., None], new, past.held)
    return period, _Past(now.state, held, jnp.where(hold, count, past.held_at))


def settled(
    update: Callable[[States], States],
    state: States,
    max_steps: ArrayLike,
    same: Same,
    *,
    cycles: bool = False,
    loop: Callable[..., Any] = while_loop,
) -> Settled:
    """At most `max_steps` updates of every query, ending when all have stopped. They are not differentiable in reverse.

    Args:
        update: of all queries at once.
        state: queries [*q, N], NaN among them stopped before the first step.
        same: whether a state has come to stand still.
        cycles: whether a state that has been there before ends a query, too: the one before the last, and where
            `same` is `alike` any.
        loop: runs the loop, as `jax.lax.while_loop` does.
    """

    def running(carry):
        (now, _), count = carry
        return (count < max_steps) & jnp.any(now.status == STEP_LIMIT)

    def body(carry):
        return _advance(update, same, carry[0]), carry[1] + 1

    return loop(running, body, (_initial_carry(state, cycles), jnp.zeros((), jnp.result_type(int))))[0][0]


def unrolled(update: Callable[[States], States], state: States, steps: int, same: Same) -> Settled:
    """The same as `settled` by a loop of fixed length, reverse-mode differentiable, storing all states."""
    carry = _initial_carry(state, False)
    if steps <= WRITTEN_OUT:  # what a loop keeps for its derivative is copied into one array for all steps
        for _ in range(steps):
            carry = _advance(update, same, carry)
        return carry[0]
    return scan(lambda carry, _: (_advance(update, same, carry), None), carry, length=steps)[0][0]

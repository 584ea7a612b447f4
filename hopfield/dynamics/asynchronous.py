"""Asynchronous dynamics: sweeps of one neuron at a time and event-driven relaxation on spins.

`model` is a `SpinModel`, as a Memory on Spins and Couplings are. Each neuron sees the field of the moment, from the
exact energy difference with its own spin excluded; a field of exactly zero keeps the spin.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, get_args

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from hopfield._arguments import native, one_of, random_key, step_limit
from hopfield._numerics import is_traced, scan, while_loop
from hopfield.couplings import Couplings
from hopfield.dynamics import _events
from hopfield.dynamics.models import SpinModel, as_spin_model
from hopfield.dynamics.settling import (
    CONVERGED,
    NOT_A_NUMBER,
    STEP_LIMIT,
    Retrieval,
    holds_nan,
    refuse_no_key,
    without_spin,
)
from hopfield.spaces import Known, State, aligned, as_known

Order = Int[Array, "N"]

SweepOrder = Literal["asynchronous", "sequential"]
ORDERS: tuple[SweepOrder, ...] = get_args(SweepOrder)
"""Random-sequential (a fresh permutation for every sweep, see `priorities`) and fixed order 0 … N−1."""
DONE = np.int32(np.iinfo(np.int32).max)
"""A priority number that no neuron has."""


def priorities(key, sweep, neurons: int, dynamics: str) -> Int[Array, "N"]:
    """Distinct priorities of the neurons [N]. Sweep number `sweep` visits them in ascending order of these.

    The low bits hold the neuron's index, the others are random, so that the next neuron is one minimum away and no
    permutation has to be sorted. The index decides ties among the random bits, which about N²/2³⁰ of the neurons
    have: 2 % at N = 5000, most from 50 000 on. But for ties either of two neurons is as likely to come first.

    Raises:
        ValueError: `dynamics` is none of ORDERS.
    """
    one_of("dynamics", dynamics, ORDERS)
    index = jnp.arange(neurons, dtype=jnp.int32)
    if dynamics == "sequential":
        return index
    low = _index_bits(neurons)
    words = jax.random.key_data(jax.random.fold_in(key, sweep))
    chance = _random_bits(index.astype(jnp.uint32), words[0], words[-1]) >> 1
    return ((chance >> low) << low).astype(jnp.int32) | index


def _random_bits(x, first, second):
    """32 random bits for each number x, from two random words: the finaliser of MurmurHash3 (Appleby 2011), keyed.

    `jax.random.bits` would spend longer on every neuron than a sweep that moves a handful of neurons takes.
    """
    x = x ^ first
    x = (x ^ (x >> 16)) * jnp.uint32(0x85EBCA6B)
    x = (x ^ (x >> 13)) + second
    x = x * jnp.uint32(0xC2B2AE35)
    return x ^ (x >> 16)


def _index_bits(neurons: int) -> int:
    return neurons.bit_length()  # one more than all indices need where N is a power of two, so that none is all ones


def visiting_order(key, sweep, neurons: int, dynamics: str) -> Order:
    """The neurons in the order in which sweep number `sweep` visits them [N]. ValueError for no order of `ORDERS`."""
    return jnp.argsort(priorities(key, sweep, neurons, dynamics))


def unstable(model: SpinModel, state: State, *, known: Known = None) -> Bool[Array, "N"]:
    """Neurons whose local field opposes their spin [N] or is not a number, or that have no spin: none is stable."""
    state = as_spin_model("model", model).as_state(state)
    return _unstable(model, state, as_known(known, state))


@jax.jit
def _unstable(model: SpinModel, state: State, known: Known) -> Bool[Array, "N"]:
    against = ~(model.local_field(state) * state >= 0) | (state == 0)
    return against if known is None else against & ~known


def sweep(model: SpinModel, state: State, order: Order, *, known: Known = None) -> State:
    """One asynchronous sweep at zero temperature: each neuron in turn aligns with its field of the moment.

    Raises:
        ValueError: `order` is no list of neurons 0 … N−1, or `known` is not boolean [N].
    """
    state = as_spin_model("model", model).as_state(state)
    return _sweep(model, state, _as_order(order, state.size), as_known(known, state))


def _as_order(order: Any, neurons: int) -> Order:
    indices = order if is_traced(order) else native(np.asarray(order))
    if indices.ndim != 1 or not jnp.issubdtype(indices.dtype, jnp.integer):
        raise ValueError(f"order must be indices of neurons, got {indices.dtype} {list(indices.shape)}")
    if not is_traced(indices) and not np.all((indices >= 0) & (indices < neurons)):
        raise ValueError(f"order must be indices from 0 to {neurons - 1}, got {indices.min()} to {indices.max()}")
    return jnp.asarray(indices)


@jax.jit
def _sweep(model: SpinModel, state: State, order: Order, known: Known) -> State:
    def new_spin(field: Array, spin: Array, i: Array) -> Array:
        return aligned(field, spin) if known is None else jnp.where(known[i], spin, aligned(field, spin))

    return visit_each(model, state, model.cache(state), order, new_spin)[0]


def visit_each(model: SpinModel, state: State, cache: Any, order: Order, new_spin: Callable) -> tuple[State, Any]:
    """State and cache after visits to neurons in order. `new_spin(field, spin, i)` is what neuron i becomes."""

    def visit(carry, i):
        state, cache = carry
        new = new_spin(model.field_at(cache, state, i), state[i], i)
        return (state.at[i].set(new), model.advance(cache, state, i, new)), None

    return scan(visit, (state, cache), order)[0]


def relax(
    model: SpinModel,
    state: State,
    *,
    dynamics: SweepOrder | str = "asynchronous",
    key=None,
    max_steps: int = 100,
    known: Known = None,
) -> Retrieval:
    """Asynchronous sweeps until nothing moves or `max_steps` sweeps have been made. NaN in a field makes its spin NaN.

    Raises:
        ValueError: unknown dynamics, a missing key of the random order, or max_steps < 1.
    """
    state = as_spin_model("model", model).as_state(state)
    dynamics = one_of("dynamics", dynamics, ORDERS)
    refuse_no_key(dynamics, key)
    key = random_key("key", jax.random.key(0) if key is None else key)  # a sequential order draws nothing
    return _relax(model, state, key, step_limit("max_steps", max_steps), as_known(known, state), dynamics=dynamics)


@partial(jax.jit, static_argnames="dynamics")
def _relax(model: SpinModel, state: State, key, max_sweeps, known: Known, *, dynamics: SweepOrder) -> Retrieval:
    if isinstance(model, Couplings):
        free = jnp.ones(state.shape, bool) if known is None else ~known
        relax_events = partial(_relax_events, dynamics=dynamics)
        if jax.default_backend() == "cpu":
            # Batched queries run one after the other: each pays for its own flips only, not for the slowest one's.
            relax_events = jax.custom_batching.sequential_vmap(relax_events)
        return relax_events(model, state, model.cache(state), free, key, max_sweeps)

    def turn(carry):
        state, count, flips, _ = carry
        new = sweep(model, state, visiting_order(key, count, state.size, dynamics), known=known)
        flipped, within = jnp.sum(new != state), count < max_sweeps  # the sweep after the last only tells of rest
        new, made = jnp.where(within, new, state), jnp.where(within, flipped, 0)
        return new, count + (flipped > 0).astype(int), flips + made, flipped > 0

    def moving(carry):
        return carry[3] & (carry[1] <= max_sweeps) & ~holds_nan(carry[0])

    zero = jnp.zeros((), int)
    final, count, flips, _ = while_loop(moving, turn, (state, zero, zero, jnp.ones((), bool)))
    rests = (count <= max_sweeps) & ~without_spin(final, known)
    return _ended(final, jnp.minimum(count, max_sweeps), flips, model.energy(final), rests)


def _ended(state: State, sweeps: Array, flips: Array, energy: Array, rests: Array) -> Retrieval:
    status = jnp.where(holds_nan(state), NOT_A_NUMBER, jnp.where(rests, CONVERGED, STEP_LIMIT))
    return Retrieval(state, sweeps, energy, status, flips=flips, period=(status == CONVERGED).astype(int))


def _relax_events(model: Couplings, state, field, free, key, max_sweeps, *, dynamics: SweepOrder) -> Retrieval:
    """The same trajectory as sweeping, visiting only neurons that would flip: cost follows flips, not sweeps.

    Within a sweep the next neuron to flip is the unstable one of least priority number not yet passed. Fields of
    Couplings change by one row of the matrix per flip, so finding it costs one pass over N.
    """
    if _events.applies(model, key):
        low, random = _index_bits(state.size), dynamics == "asynchronous"
        state, field, count, flips = _events.settle(model, (state, field, free), key, max_sweeps, low, random)
    else:
        order = partial(priorities, key, neurons=state.size, dynamics=dynamics)
        loop = _sweep_by_sweep if jax.default_backend() == "cpu" else _flip_by_flip
        state, field, count, flips = loop(model, state, field, free, order, max_sweeps)
    energy = model.energy_at(field, state)
    rests = ~jnp.any(_waiting(state, field, free) | jnp.isnan(field)) & ~without_spin(state, ~free)
    return _ended(jnp.where(free & jnp.isnan(field), jnp.nan, state), count, flips, energy, rests)


def _waiting(state, field, free) -> Bool[Array, "N"]:
    # As a sweep sees it: what is no spin, such as a hidden unit's 0, moves to one; NaN compares as false.
    return free & (((field > 0) & (state != 1)) | ((field < 0) & (state != -1)))


def _ahead(state, field, free, priority, passed) -> Array:
    """Priority number of the next neuron to flip in a sweep; DONE if there is none."""
    return jnp.min(jnp.where(_waiting(state, field, free) & (priority > passed), priority, DONE))


def _flipped(model: Couplings, state, field, priority) -> tuple[Array, Array]:
    """State and field after the neuron of a priority number has flipped."""
    i = priority & ((1 << _index_bits(state.size)) - 1)
    spin = jnp.sign(field[i])
    return state.at[i].set(spin), field + (spin - state[i]) * model.matrix[i]


def _sweep_by_sweep(model: Couplings, state, field, free, order: Callable, max_sweeps) -> tuple:
    """State, field, sweeps and flips where nothing is left to flip, for a state alone."""

    def one_sweep(carry):
        state, field, count, flips = carry
        priority = order(count)

        def flip(inner):
            state, field, next_one, flips = inner
            state, field = _flipped(model, state, field, next_one)
            return state, field, _ahead(state, field, free, priority, next_one), flips + 1

        start = (state, field, _ahead(state, field, free, priority, -1), flips)
        state, field, _, flips = while_loop(lambda inner: inner[2] != DONE, flip, start)
        return state, field, count + 1, flips

    def moving(carry):
        return jnp.any(_waiting(carry[0], carry[1], free)) & (carry[2] < max_sweeps)

    zero = jnp.zeros((), int)
    return while_loop(moving, one_sweep, (state, field, zero, zero))


def _flip_by_flip(model: Couplings, state, field, free, order: Callable, max_sweeps) -> tuple:
    """The same in one loop: states side by side do not wait for each other at the end of every sweep."""
    beginning = jnp.asarray(-1, jnp.int32)

    def step(carry):
        state, field, passed, count, flips = carry
        next_one = _ahead(state, field, free, order(count), passed)
        after = next_one == DONE
        moved = jax.tree.map(partial(jnp.where, after), (state, field), _flipped(model, state, field, next_one))
        return *moved, jnp.where(after, beginning, next_one), count + after.astype(int), flips + (~after).astype(int)

    def moving(carry):
        return jnp.any(_waiting(carry[0], carry[1], free)) & (carry[3] < max_sweeps)

    zero = jnp.zeros((), int)
    state, field, passed, count, flips = while_loop(moving, step, (state, field, beginning, zero, zero))
    return state, field, count + (passed != beginning).astype(int), flips  # the sweep in which nothing was left to flip

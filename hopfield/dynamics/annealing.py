"""States of least energy: a ladder of temperatures whose chains swap states, and a temperature that falls.

A cost that is quadratic in spins is `Couplings`; a state of least energy is its optimum, which either method finds
with a chance that grows with its sweeps.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int

from hopfield._arguments import one_of, positive_array, random_key, real_vector, shown, step_limit
from hopfield._numerics import accumulation_dtype, fori_loop, scan
from hopfield.couplings import Couplings
from hopfield.dynamics.asynchronous import ORDERS, visiting_order
from hopfield.dynamics.heat_bath import energy_of, glauber, heat_bath_sweep
from hopfield.dynamics.models import SpinModel, as_spin_model
from hopfield.memory import Dynamics
from hopfield.spaces import Known, State, as_known


class Tempered(NamedTuple):
    """Chains of a ladder of temperatures T_1 … T_K after their sweeps, a row a temperature.

    Args:
        states: last states [K, N].
        means: mean states over the sweeps after burn-in [K, N].
        energies: mean energies over them [K].
        swaps: share of the swaps between T_k and T_{k+1} that were accepted after burn-in [K − 1].
        trips: number of states that went from the last temperature of the ladder to the first, burn-in included.
            Chains at the first temperature are independent only if trips are many.
        best: state of least energy seen at the end of any sweep [N].
        least: its energy.

    Example:
        >>> from hopfield import Couplings
        >>> from hopfield.dynamics import temper
        >>> ring = Couplings(-jnp.roll(jnp.eye(6), 1, 0) - jnp.roll(jnp.eye(6), -1, 0))  # neighbours that disagree
        >>> end = temper(ring, jnp.ones(6), jax.random.key(0), [0.5, 1.0, 2.0], sweeps=50)
        >>> end.least.item(), end.swaps.shape
        (-6.0, (2,))
    """

    states: Float[Array, "K N"]
    means: Float[Array, "K N"]
    energies: Float[Array, "K"]
    swaps: Float[Array, "K-1"]
    trips: Int[Array, ""]
    best: State
    least: Float[Array, ""]


def temper(
    model: SpinModel,
    state: State,
    key,
    temperatures: ArrayLike,
    *,
    sweeps: int = 100,
    burn_in: int = 0,
    known: Known = None,
) -> Tempered:
    """Parallel tempering: heat-bath chains at a ladder of temperatures, whose neighbours may swap after every sweep.

    Chains at T and T′ swap their states with probability min(1, exp((1/T − 1/T′)(E − E′))), which leaves Gibbs'
    distribution of every temperature as it is; pairs (1, 2), (3, 4), … and (2, 3), (4, 5), … are tried in turn
    (Hukushima & Nemoto 1996). A cold chain so leaves a valley by way of the hot ones.

    Args:
        model: Memory on Spins, Couplings or another `SpinModel`.
        state: starting spins of every chain [N].
        key: JAX random key.
        temperatures: the ladder [K], K >= 2, each above 0, in the units of the energy, in rising or falling order.
            Swaps are accepted often where neighbours' energies overlap: `jnp.geomspace` is a beginning.
        sweeps: sweeps made after `burn_in` further ones that are not averaged.
        known: units held fixed [N].

    Raises:
        ValueError: temperatures are no list of two or more positive finite numbers.
    """
    sweeps, burn_in = step_limit("sweeps", sweeps), step_limit("burn_in", burn_in, 0)
    state = as_spin_model("model", model).as_state(state)
    ladder = _positive("temperatures", temperatures, least=2)
    known = jnp.zeros(state.shape, bool) if known is None else as_known(known, state)
    return _temper(model, state, random_key("key", key), ladder, (burn_in, sweeps), known)


def _positive(name: str, value: ArrayLike, least: int) -> Float[Array, "K"]:
    """Temperatures [K]. ValueError for fewer than `least` or for one that is not positive; NaN for those in jit."""
    found = real_vector(name, value)
    if len(found) < least:
        raise ValueError(f"{name} must be {least} or more positive finite numbers, got {shown(value)}")
    return positive_array(name, found, found.dtype)


@jax.jit
def _temper(model: SpinModel, state: State, key, ladder, lengths, known) -> Tempered:
    burn_in, sweeps = lengths
    dtype = accumulation_dtype(state.dtype)
    order_key, chain_key, swap_key = jax.random.split(key, 3)
    number, shared = ladder.size, isinstance(model, Couplings)
    places = jnp.arange(number)
    energies_of = jax.vmap(partial(energy_of, model))

    def turn(sweep: Array, carry: Any) -> Any:
        states, caches, came, averages, (trips, best, least) = carry
        order = visiting_order(order_key, sweep, state.size, "asynchronous")
        keys = jax.random.split(jax.random.fold_in(chain_key, sweep), number)
        one = partial(heat_bath_sweep, model, order=order, known=known, shared=shared)
        states, caches = jax.vmap(one)((states, caches), keys, ladder)
        energies = energies_of(states, caches)

        lowest = jnp.argmin(energies)
        lower = energies[lowest] < least
        best, least = jnp.where(lower, states[lowest], best), jnp.where(lower, energies[lowest], least)

        tried, swapped = _swaps(sweep, ladder, energies, jax.random.fold_in(swap_key, sweep))
        source = places + jnp.pad(swapped, (0, 1)) - jnp.pad(swapped, (1, 0))
        states, caches, came, energies = jax.tree.map(lambda x: x[source], (states, caches, came, energies))
        came = came.at[-1].set(True)
        trips, came = trips + came[0], came.at[0].set(False)

        seen = (states.astype(dtype), energies), (tried, swapped)
        return states, caches, came, _averaged(averages, seen, sweep - burn_in + 1), (trips, best, least)

    states = jnp.broadcast_to(state, (number, state.size))
    caches = jax.vmap(model.cache)(states)
    energies = energies_of(states, caches)
    nothing = jnp.zeros(number - 1, jnp.int32)
    averages = (jnp.zeros_like(states, dtype), jnp.zeros_like(energies)), (nothing, nothing)
    start = states, caches, places < 0, averages, (jnp.zeros((), jnp.int32), state, energies[0])
    states, _, _, (means, counts), ends = fori_loop(0, burn_in + sweeps, turn, start)
    tried, swapped = counts
    rates = jnp.where(tried > 0, swapped / jnp.maximum(tried, 1), jnp.nan)
    (spins, energies), (trips, best, least) = means, ends
    return Tempered(states, spins, energies, rates, trips, best, least)


def _swaps(sweep: Array, ladder: Array, energies: Array, key: Array) -> tuple[Array, Array]:
    """Pairs of neighbours that are tried after a sweep, every second one, and those that swap [K − 1]."""
    tried = (jnp.arange(ladder.size - 1) + sweep) % 2 == 0
    log_chance = (1.0 / ladder[:-1] - 1.0 / ladder[1:]) * (energies[:-1] - energies[1:])
    return tried, tried & (jnp.log(jax.random.uniform(key, tried.shape, energies.dtype)) < log_chance)


def _averaged(averages: Any, seen: Any, number: Array) -> Any:
    """Means and counts after one more sweep, the `number`th after burn-in; unchanged before the first."""
    (means, counts), (values, events) = averages, seen
    mean = lambda old, new: old + jnp.where(number > 0, (new - old) / jnp.maximum(number, 1), 0)
    count = lambda old, happened: old + ((number > 0) & happened)
    return jax.tree.map(mean, means, values), jax.tree.map(count, counts, events)


class Annealed(NamedTuple):
    """Last state [N], its energy, the energies after each temperature [K], and the best of those states [N].

    Example:
        >>> from hopfield import Couplings
        >>> from hopfield.dynamics import anneal
        >>> pair = Couplings([[0, -1], [-1, 0]])
        >>> anneal(pair, jnp.ones(2), jax.random.key(0), jnp.linspace(2.0, 0.1, 20)).best.sum().item()
        0.0
    """

    state: State
    energy: Float[Array, ""]
    energies: Float[Array, "K"]
    best: State


def anneal(
    model: SpinModel,
    state: State,
    key,
    temperatures: ArrayLike,
    *,
    sweeps: int = 1,
    dynamics: Dynamics = "asynchronous",
    known: Known = None,
) -> Annealed:
    """Simulated annealing: heat-bath sweeps at one temperature after the other (Kirkpatrick, Gelatt & Vecchi 1983).

    The last state need not be at rest: `retrieve` lets it fall.

    Args:
        model: Memory on Spins, Couplings or another `SpinModel`.
        state: starting spins [N].
        key: JAX random key.
        temperatures: the schedule [K], each above 0, in the units of the energy: falling, as `jnp.linspace(T, T/K, K)`.
        sweeps: sweeps at each temperature.
        dynamics: "asynchronous", "sequential" or "synchronous".
        known: units held fixed [N].

    Raises:
        ValueError: temperatures are no list of positive finite numbers.
    """
    one_of("dynamics", dynamics, (*ORDERS, "synchronous"))
    state = as_spin_model("model", model).as_state(state)
    heats = _positive("temperatures", temperatures, least=1)
    sweeps, known = step_limit("sweeps", sweeps), as_known(known, state)
    return _anneal(model, state, random_key("key", key), heats, sweeps, known, dynamics=dynamics)


@partial(jax.jit, static_argnames="dynamics")
def _anneal(model: SpinModel, state: State, key, heats, sweeps, known, *, dynamics: Dynamics) -> Annealed:
    def stage(carry: Any, at: tuple[Array, Any]) -> tuple[Any, Array]:
        state, best, least = carry
        number, heat = at
        own = jax.random.fold_in(key, number)
        state = glauber(model, state, own, heat, sweeps=sweeps, dynamics=dynamics, known=known).state
        energy = model.energy(state)
        lower = energy < least
        return (state, jnp.where(lower, state, best), jnp.where(lower, energy, least)), energy

    start = state, state, model.energy(state)
    (state, best, _), energies = scan(stage, start, (jnp.arange(heats.size), heats))
    return Annealed(state, energies[-1], energies, best)

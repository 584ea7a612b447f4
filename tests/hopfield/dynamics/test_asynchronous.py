"""Asynchronous dynamics against a brute-force loop, event-driven against plain sweeps, Glauber against Boltzmann."""

import itertools
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from hopfield.couplings import Couplings, hebb_couplings
from hopfield.dynamics.asynchronous import ORDERS, relax, sweep, unstable, visiting_order
from hopfield.dynamics.heat_bath import glauber
from hopfield.memory import Memory
from hopfield.separations import Linear, Polynomial
from hopfield.spaces import Spins
from tests.hopfield.contracts.parts import quick

KEY = jax.random.key(9)
every_order = pytest.mark.parametrize("dynamics", ORDERS)


def classical(patterns) -> Memory:
    return Memory(patterns, 1 / patterns.shape[1], separation=Linear(), space=Spins())


def spins(seed: int, *shape: int):
    return np.random.default_rng(seed).choice([-1, 1], size=shape)


def brute_force(patterns, state, orders, known):
    """Hopfield's rule in integers, spin by spin: (final state, sweeps that moved a spin, flips, ties met)."""
    state, sweeps, flips, ties = state.copy(), 0, 0, 0
    for order in orders:
        before = flips
        for i in order:
            if known[i]:
                continue
            field = sum(
                int(row[i]) * sum(int(row[j]) * int(state[j]) for j in range(state.size) if j != i) for row in patterns
            )
            ties += field == 0
            if field * state[i] < 0:
                state[i] = -state[i]
                flips += 1
        if flips == before:
            return state, sweeps, flips, ties
        sweeps += 1
    raise AssertionError("the loop needs more orders")


@pytest.mark.parametrize("form", ["memory", "couplings"])
@pytest.mark.parametrize(
    ("stored", "neurons", "dtype"),
    [(4, 13, jnp.float32), (4, 13, jnp.float64), (5, 12, jnp.float32)],
    ids=["ties float32", "ties float64", "no ties float32"],
)
@every_order
def test_classical_network_follows_the_brute_force_loop(dynamics, stored, neurons, dtype, form):
    """Same order, states and counts. A field is a sum of M (N − 1) signs: if even, it may tie, and keeps the spin."""
    queries = 12
    patterns, states = spins(stored, stored, neurons), spins(7, queries, neurons)
    known = np.random.default_rng(1).random((queries, neurons)) < np.where(np.arange(queries) % 3, 0.0, 0.3)[:, None]
    keys = jax.random.split(KEY, queries)
    memory = classical(jnp.asarray(patterns, dtype))
    model = memory if form == "memory" else hebb_couplings(memory)
    run = quick(jax.vmap(lambda s, k, held: relax(model, s, dynamics=dynamics, key=k, max_steps=100, known=held)))
    end = run(jnp.asarray(states, dtype), keys, known)
    orders = orders_of(dynamics, neurons, queries)
    ties = 0
    for q in range(queries):
        state, sweeps, flips, met = brute_force(patterns, states[q], orders[q], known[q])
        np.testing.assert_array_equal(end.state[q], state)
        assert (int(end.steps[q]), int(end.flips[q])) == (sweeps, flips)
        assert bool(end.converged[q])
        ties += met
    assert (ties > 0) == (stored * (neurons - 1) % 2 == 0)


@cache
def orders_of(dynamics: str, neurons: int, queries: int):
    """The orders of twenty sweeps of every query [Q, 20, N]."""
    draw = jax.vmap(lambda key, turn: visiting_order(key, turn, neurons, dynamics), (None, 0))
    return np.asarray(quick(jax.vmap(draw, (0, None)))(jax.random.split(KEY, queries), jnp.arange(20)))


@every_order
@pytest.mark.parametrize(("platform", "held"), [("cpu", False), ("gpu", True), ("gpu", False), ("cpu", True)])
def test_event_driven_relaxation_takes_the_trajectory_of_plain_sweeps(dynamics, platform, held, monkeypatch):
    """Sixty-four instances of real-valued couplings: final states, sweeps and flips, in the loops of either device."""
    monkeypatch.setattr(jax, "default_backend", lambda: platform)
    jax.clear_caches()  # programs do not know for which of the two they were made
    count, neurons = 64, 24
    drawn = jax.random.normal(KEY, (count, neurons, neurons))
    states = jnp.asarray(spins(3, count, neurons), float)
    known = jnp.asarray(np.random.default_rng(2).random((count, neurons)) < (0.25 if held else 0.0))
    keys = jax.random.split(jax.random.key(4), count)
    models = quick(jax.vmap(Couplings))(drawn + jnp.swapaxes(drawn, 1, 2))
    events = quick(jax.vmap(lambda m, s, k, h: relax(m, s, dynamics=dynamics, key=k, max_steps=50, known=h)))(
        models, states, keys, known
    )

    @quick
    @jax.vmap
    def one_sweep(model, state, key, turn, held):
        return sweep(model, state, visiting_order(key, turn, neurons, dynamics), known=held)

    now, sweeps, flips = states, np.zeros(count, int), np.zeros(count, int)
    for turn in range(50):
        new = one_sweep(models, now, keys, jnp.full(count, turn), known)
        moved = np.sum(np.asarray(new != now), axis=1)
        now, sweeps, flips = new, sweeps + (moved > 0), flips + moved
        if not np.any(moved):
            break
    np.testing.assert_array_equal(events.state, now)
    np.testing.assert_array_equal(events.steps, sweeps)
    np.testing.assert_array_equal(events.flips, flips)
    assert np.all(events.converged)
    assert np.max(sweeps) > 2
    np.testing.assert_allclose(events.energy, jax.vmap(lambda m, s: m.energy(s))(models, now), rtol=1e-12)


@every_order
def test_relaxation_stops_at_the_limit_and_says_to_allow_more_steps(dynamics):
    memory = classical(jnp.asarray(spins(5, 9, 30), float))
    start = jnp.asarray(spins(6, 30), float)
    for model in (memory, hebb_couplings(memory)):
        short = quick(lambda state, m=model: relax(m, state, dynamics=dynamics, key=KEY, max_steps=1))(start)
        run = quick(lambda state, m=model: relax(m, state, dynamics=dynamics, key=KEY, max_steps=100))
        whole = run(start)
        again = run(whole.state)
        assert (int(short.steps), bool(short.converged), int(short.period)) == (1, False, 0)
        assert "allow more steps" in short.advice
        assert int(whole.steps) > 1
        assert (bool(whole.converged), int(whole.period)) == (True, 1)
        assert not np.any(unstable(model, whole.state))
        assert (int(again.steps), int(again.flips), bool(again.converged)) == (0, 0, True)


def test_a_spin_with_no_field_is_stable():
    """Two opposed patterns on two neurons: all fields of the mixed states vanish."""
    memory = classical(jnp.array([[1.0, 1.0], [1.0, -1.0]]))
    states = jnp.asarray(list(itertools.product([-1.0, 1.0], repeat=2)))
    end = quick(jax.vmap(lambda state: relax(memory, state, dynamics="sequential", max_steps=10)))(states)
    np.testing.assert_array_equal(end.state, states)
    assert np.all(end.converged)
    assert not np.any(quick(jax.vmap(lambda state: unstable(memory, state)))(states))


CELLS = np.array(list(itertools.product([-1.0, 1.0], repeat=4)))
DRAWN = jax.random.normal(jax.random.key(33), (4, 4))
COUPLED = Couplings(DRAWN + DRAWN.T, 0.4)
DENSE = Memory(jnp.asarray(spins(2, 3, 4), float), 0.3, separation=Polynomial(3), space=Spins())


@cache
def energies(name: str) -> np.ndarray:
    """Energy of each of the sixteen states [16]."""
    return np.asarray(quick(jax.vmap({"couplings": COUPLED, "dense": DENSE}[name].energy))(CELLS))


def visited(model, dynamics, temperature, chains=6000, sweeps=12, known=None, start=None):
    """How many of many independent chains end in each of the sixteen states of four spins [16]."""
    start = jnp.ones(4) if start is None else start

    def end(key):
        return glauber(model, start, key, temperature, sweeps=sweeps, dynamics=dynamics, known=known).state

    ends = np.asarray(quick(jax.vmap(end))(jax.random.split(KEY, chains)))
    return np.bincount(((ends + 1) // 2 @ 2 ** np.arange(3, -1, -1)).astype(int), minlength=16)


def assert_drawn_from(counts, chances):
    """Pearson's test, at a level that a right sampler fails once in a thousand."""
    assert np.all(counts[chances == 0] == 0)
    inside = chances > 0
    assert scipy.stats.chisquare(counts[inside], counts.sum() * chances[inside]).pvalue > 1e-3


@pytest.mark.parametrize(("name", "model"), [("couplings", COUPLED), ("dense", DENSE)], ids=["couplings", "dense"])
@every_order
def test_heat_bath_ends_in_the_boltzmann_distribution(name, model, dynamics):
    """p ∝ exp(−E/T) over all sixteen states, for one temperature at which they differ by much more than the noise."""
    temperature = 1.2
    boltzmann = np.exp(-energies(name) / temperature)
    boltzmann /= boltzmann.sum()
    assert np.max(boltzmann) > 4 * np.min(boltzmann)
    assert_drawn_from(visited(model, dynamics, temperature), boltzmann)


def test_synchronous_heat_bath_ends_in_littles_distribution():
    """All spins at once at symmetric W: p ∝ Π_i 2cosh(h_i/T) (Peretto 1984), not Boltzmann's."""
    fields = np.asarray(CELLS) @ np.asarray(COUPLED.scale * COUPLED.matrix)
    little = np.prod(np.cosh(fields / 1.2), axis=1)
    counts = visited(COUPLED, "synchronous", 1.2, sweeps=40)
    assert_drawn_from(counts, little / little.sum())
    boltzmann = np.exp(-energies("couplings") / 1.2)
    with pytest.raises(AssertionError):
        assert_drawn_from(counts, boltzmann / boltzmann.sum())


def test_clamped_units_give_the_conditional_distribution():
    known, start = np.array([False, True, False, True]), np.array([1.0, -1.0, 1.0, 1.0])
    chances = np.exp(-energies("couplings") / 1.2)
    chances = np.where(np.all(np.asarray((start[None] == CELLS) | ~known[None]), axis=1), chances, 0.0)
    counts = visited(COUPLED, "asynchronous", 1.2, chains=3000, known=jnp.asarray(known), start=jnp.asarray(start))
    assert_drawn_from(counts, chances / chances.sum())


def test_averages_over_sweeps_are_thermal_averages():
    """Mean state and mean energy of one long chain, against the sum over all states."""
    chances = np.exp(-energies("couplings") / 2.0)
    chances /= chances.sum()
    bias = jnp.array([False, False, False, True])
    end = quick(jax.vmap(lambda key: glauber(COUPLED, jnp.ones(4), key, 2.0, sweeps=400, burn_in=20)))(
        jax.random.split(KEY, 64)
    )
    error = np.std(end.energy, ddof=1) / 8
    assert abs(np.mean(end.energy) - chances @ energies("couplings")) < 4 * error < 0.2
    held = quick(jax.vmap(lambda key: glauber(COUPLED, jnp.ones(4), key, 2.0, sweeps=400, known=bias).mean))(
        jax.random.split(KEY, 64)
    )
    conditional = np.where(CELLS[:, 3] > 0, chances, 0.0)
    expected = conditional @ np.asarray(CELLS) / conditional.sum()
    error = np.std(held, axis=0, ddof=1) / 8
    assert np.all(np.abs(np.mean(held, axis=0) - expected)[:3] < 4 * error[:3])
    np.testing.assert_array_equal(held[:, 3], 1.0)


def test_cold_heat_bath_is_the_zero_temperature_sweep():
    memory = classical(jnp.asarray(spins(5, 3, 20), float))
    start = jnp.asarray(spins(6, 20), float)
    cold = quick(lambda s: glauber(memory, s, KEY, 1e-6, sweeps=10, dynamics="sequential"))(start)
    zero = quick(lambda s: relax(memory, s, dynamics="sequential", key=KEY, max_steps=10))(start)
    np.testing.assert_array_equal(cold.state, zero.state)
    assert float(cold.energy) < float(memory.energy(start))

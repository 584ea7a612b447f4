"""Sampling of graphs: the classical network as a Boltzmann machine, by enumeration, by blocks and spin by spin."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np

from hopfield import glauber, graphs
from hopfield.memories import find

N, T, CHAINS, SWEEPS = 6, 0.8, 64, 150
PATTERNS = np.random.default_rng(1).choice([-1.0, 1.0], size=(2, N))
STATES = np.array(list(itertools.product([-1.0, 1.0], repeat=N)))
WEIGHTS = jnp.asarray(PATTERNS / N**0.5)
KEYS = jax.random.split(jax.random.key(0), CHAINS)


def machine(hidden: graphs.Lagrangian) -> graphs.Graph:
    return graphs.two_layers(WEIGHTS, visible=graphs.Tanh(1 / T), hidden=hidden)


def chains(graph: graphs.Graph) -> np.ndarray:
    """Visible units [chains, sweeps, N], without the first sweeps."""
    start = graph.zeros() | {"visible": jnp.ones(N)}
    run = jax.jit(jax.vmap(lambda key: graphs.sample(graph, start, key, T, sweeps=SWEEPS)["visible"]))
    return np.asarray(run(KEYS))[:, 20:]


def exact(log_weight: np.ndarray) -> np.ndarray:
    """Mean of x xᵀ over all states, given the logarithm of their weight."""
    chance = np.exp(log_weight - log_weight.max())
    return np.einsum("s,si,sj->ij", chance / chance.sum(), STATES, STATES)


def assert_same_marginals(pairs: np.ndarray, expected: np.ndarray) -> None:
    """Within four standard errors over chains [chains, N, N], and these are small."""
    above = np.triu_indices(N, 1)
    error = pairs.std(axis=0, ddof=1) / len(pairs) ** 0.5
    assert error[above].max() < 0.03
    assert np.all(np.abs(pairs.mean(axis=0) - expected)[above] < 4 * error[above])


def test_spins_and_gaussian_units_are_the_classical_network():
    """Σ_h exp(−[½‖h‖² − h·W x]/T) = exp(½‖W x‖²/T), and E(x) = −½ Σ (ξ·x)²/N = −½‖W x‖²."""
    expected = exact(0.5 * np.sum((STATES @ WEIGHTS.T) ** 2, axis=1) / T)
    by_blocks = chains(machine(graphs.IdentityLagrangian()))
    assert_same_marginals(np.einsum("cti,ctj->cij", by_blocks, by_blocks) / by_blocks.shape[1], expected)

    memory = find("classical").build(PATTERNS)
    energies = np.asarray(jax.vmap(memory.energy)(jnp.asarray(STATES)))
    np.testing.assert_allclose(exact(-energies / T), expected, atol=1e-12)
    ends = jax.jit(jax.vmap(lambda key: glauber(memory, jnp.ones(N), key, T, sweeps=30).state))
    by_spins = np.asarray(ends(jax.random.split(jax.random.key(1), 4000)))
    assert_same_marginals(by_spins[:, :, None] * by_spins[:, None, :], expected)


def test_spins_and_one_unit_that_is_on_are_a_mixture_of_patterns():
    """Σ_μ exp(w_μ·x/T), the log-sum-exp energy on spins."""
    expected = exact(np.log(np.sum(np.exp(STATES @ WEIGHTS.T / T), axis=1)))
    found = chains(machine(graphs.Softmax(1 / T)))
    assert_same_marginals(np.einsum("cti,ctj->cij", found, found) / found.shape[1], expected)


def test_the_slope_of_a_lagrangian_is_the_mean_of_its_units():
    """A graph with β = 1/T is therefore the machine's mean field."""
    field = jnp.array([0.7, -0.2, 0.1])
    bias = graphs.Bias(field)
    for lagrangian in (graphs.Tanh(1 / T), graphs.IdentityLagrangian(), graphs.Softmax(1 / T)):
        graph = graphs.Graph({"x": graphs.Layer((3,), lagrangian)}, [("x", bias)])
        drawn = np.asarray(graphs.sample(graph, graph.zeros(), jax.random.key(2), T, sweeps=20_000)["x"])
        np.testing.assert_allclose(drawn.mean(axis=0), lagrangian.activation(field), atol=0.03)

"""Parallel tempering against the sums over all states, and annealing against optima that are known."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import Couplings, Memory, separations, spaces
from hopfield.dynamics import anneal, temper

KEY = jax.random.key(3)
STATES = np.array(list(itertools.product((-1.0, 1.0), repeat=8)))
LADDER = np.array([0.4, 0.7, 1.2, 2.0])


def gibbs(energies: np.ndarray, temperature: float) -> np.ndarray:
    weights = np.exp(-(energies - energies.min()) / temperature)
    return weights / weights.sum()


def frustrated() -> Couplings:
    matrix = np.random.default_rng(1).normal(size=(8, 8))
    bias = np.random.default_rng(2).normal(size=8) * 0.3
    return Couplings((matrix + matrix.T) / 4, bias=bias)


def test_every_temperature_has_the_averages_and_swaps_of_gibbs_distribution():
    model = frustrated()
    energies = np.array(-0.5 * np.sum((STATES @ model.matrix) * STATES, 1) - STATES @ model.bias)
    many = jax.vmap(lambda key: temper(model, jnp.ones(8), key, LADDER, sweeps=4000, burn_in=50))
    chains = many(jax.random.split(KEY, 16))
    level = [gibbs(energies, temperature) for temperature in LADDER]
    rise = 1 / LADDER[:-1] - 1 / LADDER[1:]
    chance = [np.minimum(1, np.exp(r * (energies[:, None] - energies[None, :]))) for r in rise]
    swaps = [a @ c @ b for a, c, b in zip(level[:-1], chance, level[1:], strict=True)]
    for found, exact in (
        (chains.means, np.array([p @ STATES for p in level])),
        (chains.energies, np.array([p @ energies for p in level])),
        (chains.swaps, np.array(swaps)),
    ):
        error = np.std(found, axis=0, ddof=1) / 4
        np.testing.assert_array_less(np.abs(np.mean(found, axis=0) - exact), 4.5 * error + 1e-12)
        assert np.max(error) < 0.02
    np.testing.assert_allclose(chains.least, energies.min(), rtol=1e-12)
    np.testing.assert_array_equal(chains.best, np.tile(STATES[np.argmin(energies)], (16, 1)))


@pytest.mark.parametrize("as_couplings", [True, False])
def test_a_cold_chain_leaves_its_valley_by_way_of_the_hot_ones(as_couplings):
    """One pattern of 12 spins at T = 0.15: alone a chain stays by its pattern, which has the overlap ±1 alike."""
    model = Couplings(jnp.ones((12, 12)), 1 / 12)
    if not as_couplings:
        model = Memory(jnp.ones((1, 12)), 1 / 12, separation=separations.Linear(), space=spaces.Spins())
    end = temper(model, jnp.ones(12), KEY, jnp.geomspace(0.15, 2.0, 6), sweeps=6000)
    assert end.trips > 100
    assert float(jnp.abs(end.means[0]).max()) < 0.35
    apart = temper(model, jnp.ones(12), KEY, jnp.array([0.15, 1e4]), sweeps=600)
    assert apart.swaps < 0.05
    assert float(apart.means[0].min()) > 0.9


def test_units_that_are_known_stay_and_the_best_state_respects_them():
    known = jnp.arange(8) < 2
    end = temper(frustrated(), -jnp.ones(8), KEY, LADDER, sweeps=200, known=known)
    assert bool(jnp.all(end.means[:, :2] == -1))
    assert bool(jnp.all(end.best[:2] == -1))
    assert not bool(jnp.any(jnp.abs(end.means[-1, 2:]) == 1))


GRAPHS = {
    "petersen": ([(i, (i + 1) % 5) for i in range(5)] + [(i, i + 5) for i in range(5)]
                 + [(5 + i, 5 + (i + 2) % 5) for i in range(5)], 12),
    "complete 7": (list(itertools.combinations(range(7), 2)), 12),
    "torus 6 x 6": ([(6 * i + j, 6 * i + (j + 1) % 6) for i in range(6) for j in range(6)]
                    + [(6 * i + j, 6 * ((i + 1) % 6) + j) for i in range(6) for j in range(6)], 72),
}  # fmt: skip
"""Edges of graphs, and the size of their largest cut: 12 (Bussemaker et al. 1976), n²/4 rounded down, all edges."""


@pytest.mark.parametrize("name", GRAPHS)
def test_the_largest_cut_of_known_graphs_is_found(name):
    edges, largest = GRAPHS[name]
    size = max(map(max, edges)) + 1
    matrix = np.zeros((size, size))
    for i, j in edges:
        matrix[i, j] = matrix[j, i] = 1
    network = Couplings(-matrix)
    cut = lambda state: np.sum(matrix * (1 - np.outer(state, state))) / 4
    cooled = anneal(network, jnp.ones(size), KEY, jnp.linspace(2.0, 0.1, 60), sweeps=5)
    assert cut(np.asarray(cooled.best)) == largest
    assert float(network.energy(cooled.best)) == float(cooled.energies.min()) == len(edges) - 2 * largest
    assert cut(np.asarray(temper(network, jnp.ones(size), KEY, jnp.geomspace(0.3, 3.0, 5), sweeps=200).best)) == largest


@pytest.mark.parametrize("wrong", [[1.0], [1.0, -1.0], [1.0, np.nan], [[1.0, 2.0]], "hot"])
def test_a_ladder_that_cannot_be_is_refused(wrong):
    with pytest.raises((ValueError, TypeError), match="temperatures must"):
        temper(frustrated(), jnp.ones(8), KEY, wrong)
    bad = jax.jit(lambda t: temper(frustrated(), jnp.ones(8), KEY, t, sweeps=2).means)(jnp.array([1.0, -1.0]))
    assert bool(jnp.all(jnp.isnan(bad[1])))

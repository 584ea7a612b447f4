"""The orders in which asynchronous sweeps visit neurons are as random as permutations drawn one by one."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from hopfield.dynamics.asynchronous import visiting_order

SWEEPS = 4000
NEURONS = 64


@pytest.fixture(scope="module")
def ranks():
    """Position of every neuron in successive sweeps of one query [S, N]."""
    draw = jax.jit(jax.vmap(lambda turn: visiting_order(jax.random.key(2), turn, NEURONS, "asynchronous")))
    return np.argsort(draw(jnp.arange(SWEEPS)), axis=1)


@pytest.mark.parametrize("size", [2, 3], ids=["pairs", "triples"])
def test_neurons_precede_one_another_equally_often(ranks, size):
    """Indices may have anything in common: χ² over the orders of each of 400 groups, and its p-values uniform."""
    rng = np.random.default_rng(size)
    near = [tuple(first + np.arange(size)) for first in range(NEURONS - size + 1)]
    apart = [tuple(rng.choice(NEURONS, size, replace=False)) for _ in range(400 - len(near))]
    orders = {order: number for number, order in enumerate(itertools.permutations(range(size)))}
    chances = []
    for group in near + apart:
        found = np.argsort(ranks[:, group], axis=1)
        numbers = [orders[order] for order in map(tuple, found.tolist())]
        chances.append(scipy.stats.chisquare(np.bincount(numbers, minlength=len(orders))).pvalue)
    assert min(chances) > 1e-5
    assert scipy.stats.kstest(chances, "uniform").pvalue > 1e-4


@pytest.mark.parametrize("lag", [1, 2, 16])
def test_sweeps_are_independent_of_one_another(ranks, lag):
    """Rank correlations of two permutations have mean 0 and variance 1 / (N − 1)."""
    scaled = (ranks - (NEURONS - 1) / 2) / np.sqrt((NEURONS**2 - 1) / 12)
    found = np.mean(scaled[lag:] * scaled[:-lag], axis=1)
    assert abs(found.mean()) < 4 / np.sqrt(found.size * (NEURONS - 1))
    assert found.var() * (NEURONS - 1) == pytest.approx(1, abs=4 * np.sqrt(2 / found.size))

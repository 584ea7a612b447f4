"""Networks of noisy examples beside their definition, and against theory of large networks."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import patterns, retrieve
from hopfield.networks import examples_network
from hopfield.theory import examples


def test_couplings_are_sums_over_examples():
    shown = np.random.default_rng(0).choice([-1.0, 1.0], size=(3, 4, 6))
    sums = shown.sum(axis=1)
    for supervised, expected in (
        (True, sums.T @ sums / (6 * 16)),
        (False, np.einsum("mai,maj->ij", shown, shown) / 24),
    ):
        network = examples_network(shown, supervised=supervised)
        np.fill_diagonal(expected, 0.0)
        np.testing.assert_allclose(network.scale * network.matrix, expected, rtol=1e-6)


@pytest.mark.physics
@pytest.mark.parametrize("supervised", [True, False])
def test_overlaps_of_a_network_are_those_of_theory(supervised):
    """N = 2000 at α = 0.03: one step, and the end of asynchronous sweeps, within 0.01."""
    neurons, load, r, count = 2000, 0.03, 0.4, 60
    stored = patterns.spins(jax.random.key(0), int(load * neurons), neurons)
    shown = patterns.examples(jax.random.key(1), stored, count, r)
    network = examples_network(shown, supervised=supervised)
    step = jnp.mean(jax.vmap(network.update)(stored) * stored)
    assert step == pytest.approx(examples.one_step_overlap(load, r, count, supervised=supervised), abs=0.01)
    run = jax.vmap(lambda x: retrieve(network, x, dynamics="sequential").state)
    end = jnp.mean(run(stored[:20]) * stored[:20])
    assert end == pytest.approx(examples.overlap(load, r, count, supervised=supervised), abs=0.01)

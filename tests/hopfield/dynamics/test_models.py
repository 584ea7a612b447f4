"""Protocols of models: every kind of model, a user-defined one too, is moved by the same verbs in the same words."""

from dataclasses import dataclass
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import Memory, hebb_couplings, retrieve, trajectory
from hopfield.dynamics import CONVERGED, CYCLE
from hopfield.networks.binary import covariance_network
from hopfield.networks.random_features import FeatureMemory
from hopfield.networks.sequences import SequenceMemory

RNG = np.random.default_rng(5)
N = 12
SPINS = RNG.choice([-1.0, 1.0], (3, N))
BITS = (SPINS > 0) * 1.0
ROWS = RNG.normal(size=(3, N)) / N**0.5
KNOWN = np.arange(N) < 2


@jax.tree_util.register_dataclass
@dataclass
class Halved:
    """States that are halved towards a centre, E = ‖x − centre‖²."""

    centre: jax.Array

    def as_state(self, state):
        return jnp.asarray(state, self.centre.dtype)

    def update(self, state, known=None):
        new = 0.5 * (state + self.centre)
        return new if known is None else jnp.where(known, state, new)

    def energy(self, state):
        return jnp.sum((state - self.centre) ** 2)


CLASSICAL = Memory(SPINS, separation="linear", space="spins")
FEATURES = FeatureMemory(jax.random.key(0), N, 4096, beta=2.0).add(ROWS)
MODELS = {
    "memory": (Memory(ROWS, 4.0), ROWS[0]),
    "couplings": (hebb_couplings(CLASSICAL), SPINS[0] * np.where(np.arange(N) == 5, -1, 1)),
    "binary": (covariance_network(BITS, 0.5), np.abs(BITS[0] - (np.arange(N) == 5))),
    "features": (FEATURES, ROWS[0] + 0.1),
    "user-defined": (Halved(jnp.asarray(ROWS[1])), ROWS[0]),
    "sequence": (SequenceMemory(SPINS), SPINS[0]),
}
every_model = pytest.mark.parametrize(("model", "state"), MODELS.values(), ids=MODELS)
every_energy = pytest.mark.parametrize(
    ("model", "state"), [MODELS[name] for name in MODELS if name != "sequence"], ids=[*MODELS][:-1]
)


@every_model
@pytest.mark.parametrize("known", [None, KNOWN], ids=["free", "clamped"])
def test_a_trajectory_is_the_updates_of_any_model(model, state, known):
    visited = np.asarray(trajectory(model, state, 4, known=known))
    for before, after in pairwise(visited):
        np.testing.assert_allclose(after, model.update(before, known), rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(visited[0], state)
    if known is not None:
        assert (visited[:, known] == state[known]).all()
        np.testing.assert_allclose(model.update(jnp.asarray(state))[~known], visited[1][~known], rtol=1e-12)


@every_energy
def test_retrieval_ends_any_model_with_an_energy_where_its_updates_stand_still(model, state):
    end = retrieve(model, state, max_steps=500)
    assert end.status in (CONVERGED, CYCLE)
    again = model.update(model.update(end.state))
    np.testing.assert_allclose(again, end.state, atol=1e-9)
    assert float(end.energy) == pytest.approx(float(model.energy(end.state)))


def test_a_binary_network_retrieves_what_its_network_of_spins_does():
    network, state = MODELS["binary"]
    end, spins = retrieve(network, state), retrieve(network.couplings(), 2 * state - 1)
    np.testing.assert_array_equal(2 * end.state - 1, spins.state)
    assert (int(end.steps), int(end.status)) == (int(spins.steps), CONVERGED)

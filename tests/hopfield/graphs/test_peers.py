"""Graphs agree with hamux on its own example, images and labels joined by a linear synapse."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import graphs

hamux = pytest.importorskip("hamux", reason="the peers extra brings hamux")

NEURONS = {"image": (12, hamux.lagr_tanh, graphs.Tanh()), "labels": (4, hamux.lagr_softmax, graphs.Softmax())}
NEURONS |= {
    "hidden": (6, hamux.lagr_relu, graphs.ReLU()),
    "other": (5, hamux.lagr_identity, graphs.IdentityLagrangian()),
}
JOINED = (("image", "labels"), ("image", "hidden"), ("hidden", "other"))


@pytest.fixture(scope="module")
def both():
    """The same network in both libraries, and states of it."""
    rng = np.random.default_rng(0)
    weights = [jnp.asarray(rng.normal(size=(NEURONS[a][0], NEURONS[b][0])), jnp.float32) for a, b in JOINED]
    neurons = {name: hamux.NeuronLayer(theirs, (width,)) for name, (width, theirs, _) in NEURONS.items()}
    synapses = {f"s{i}": hamux.LinearSynapse(w) for i, w in enumerate(weights)}
    ham = hamux.HAM(neurons, synapses, [(names, f"s{i}") for i, names in enumerate(JOINED)])
    layers = {name: graphs.Layer((width,), ours) for name, (width, _, ours) in NEURONS.items()}
    graph = graphs.Graph(layers, [(names, graphs.BilinearSynapse(w)) for names, w in zip(JOINED, weights, strict=True)])
    states = {name: jnp.asarray(rng.normal(size=width), jnp.float32) for name, (width, *_) in NEURONS.items()}
    return ham, graph, states


def shift(ham) -> float:
    """Σ log 2 of tanh neurons, whose Lagrangian is log cosh there and log 2cosh here."""
    return 12 * np.log(2)


def test_activations_energy_and_slope_are_those_of_hamux(both):
    ham, graph, states = both
    theirs = ham.activations(states)
    for name, g in graph.activations(states).items():
        np.testing.assert_allclose(g, theirs[name], atol=1e-6)
    energy, slope = ham.dEdact(theirs, states, return_energy=True)
    assert float(graph.energy(states) + shift(ham)) == pytest.approx(float(energy), rel=1e-6)
    for name, d in graph.slope(states).items():
        np.testing.assert_allclose(d, slope[name], atol=2e-6)


def test_descent_is_that_of_hamux(both):
    """x ← x − 0.1 ∂E/∂g for 50 steps, labels clamped, as in its tutorial; steps so small are never halved."""
    ham, graph, states = both
    ours = graphs.descend(graph, states, 50, step_size=0.02, clamped={"labels": True})
    for _ in range(50):
        slope = ham.dEdact(ham.activations(states), states)
        states = {name: x - 0.02 * slope[name] * (name != "labels") for name, x in states.items()}
    for name, x in ours.state.items():
        np.testing.assert_allclose(x, states[name], atol=1e-5, rtol=1e-5)
    energy = ham.energy(ham.activations(states), states)
    assert float(ours.energy + shift(ham)) == pytest.approx(float(energy), rel=1e-6)
    assert jax.tree.structure(ours.state) == jax.tree.structure(states)

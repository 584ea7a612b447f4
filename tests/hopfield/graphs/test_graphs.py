"""Graphs: their parts against closed forms, known models as graphs, descent, clamps, and hamux."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from hopfield import Memory, dynamics, graphs, spaces
from hopfield.layers import EnergyTransformerBlock
from tests.hopfield.contracts.parts import quick
from tests.hopfield.graphs.random_graphs import random_graph

RNG = np.random.default_rng(2)
X = jnp.asarray(RNG.normal(size=(3, 5)))
LAGRANGIANS = {
    "identity": graphs.IdentityLagrangian(),
    "relu": graphs.ReLU(),
    "softmax": graphs.Softmax(1.7),
    "tanh": graphs.Tanh(0.8),
    "spherical": graphs.Spherical(2.0),
    "layer norm": graphs.LayerNorm(1.3, jnp.arange(5.0)),
}
ACTIVATIONS = {
    "identity": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "softmax": lambda x: np.exp(1.7 * x) / np.exp(1.7 * x).sum(-1, keepdims=True),
    "tanh": lambda x: np.tanh(0.8 * x),
    "spherical": lambda x: 2 * x / np.linalg.norm(x, axis=-1, keepdims=True),
    "layer norm": lambda x: (
        1.3 * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) + np.arange(5.0)
    ),
}


@pytest.mark.parametrize("name", LAGRANGIANS)
def test_activations_are_the_gradients_of_lagrangians(name):
    np.testing.assert_allclose(LAGRANGIANS[name].activation(X), ACTIVATIONS[name](np.asarray(X)), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", LAGRANGIANS)
def test_lagrangians_are_convex(name):
    """L(y) ≥ L(x) + ∇L(x)·(y − x)."""
    lagrangian, y = LAGRANGIANS[name], X[::-1] * 0.7
    assert lagrangian(y) >= lagrangian(X) + jnp.sum(lagrangian.activation(X) * (y - X)) - 1e-6


@pytest.mark.parametrize("space", [spaces.Euclidean(), spaces.Box(0.5)], ids=["euclidean", "box"])
@pytest.mark.parametrize("separation", ["softmax", "entmax:1.5", "linear"])
def test_a_memory_is_a_graph(space, separation):
    memory = Memory(RNG.normal(size=(4, 6)) / 2, 0.7, separation=separation, space=space)
    graph = graphs.from_memory(memory)
    field = jnp.asarray(RNG.normal(size=6))
    activation = graph.layers["state"].lagrangian.activation

    @quick
    def both(field):
        states, state = {"state": field}, activation(field)
        updated = activation(field - graph.slope(states)["state"])
        return (graph.energy(states), updated), (memory.energy(state), memory.update(state))

    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=0, atol=1e-9), *both(field))


def test_steps_of_size_one_retrieve_as_the_memory_does():
    memory = Memory(RNG.normal(size=(4, 6)), 2.0)
    start = jnp.asarray(RNG.normal(size=6))
    end = graphs.descend(graphs.from_memory(memory), {"state": start}, 60)
    assert end.converged
    assert end.status == dynamics.CONVERGED
    np.testing.assert_allclose(end.state["state"], dynamics.retrieve(memory, start, max_steps=200).state, atol=1e-6)


def test_the_energy_transformer_is_a_graph():
    block = EnergyTransformerBlock(
        6, 2, 5, steps=3, step_size=0.05, kernel_init=nnx.initializers.normal(0.5), rngs=nnx.Rngs(0)
    )
    attention = graphs.Attention(block.query[...], block.key[...], 1 / 3**0.5)
    graph = graphs.energy_transformer(attention, block.patterns[...], 4)
    x = jnp.asarray(RNG.normal(size=(4, 6)), jnp.float32)
    found = nnx.jit(lambda block, x: (block.energy(x), block(x), block.inspect(x).energy))(block, x)
    assert float(jax.jit(graph.energy)({"tokens": x})) == pytest.approx(float(found[0]), rel=1e-6)
    end = graphs.descend(graph, {"tokens": x}, 3, step_size=0.05)
    np.testing.assert_allclose(end.state["tokens"], found[1], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(end.energies, found[2], rtol=1e-6)


def test_a_convolution_is_the_product_with_its_matrix():
    kernel, image = jnp.asarray(RNG.normal(size=(2, 2, 1, 2))), jnp.asarray(RNG.normal(size=(3, 3, 1)))
    other = jnp.asarray(RNG.normal(size=(2, 2, 2)))
    by_hand = -sum(
        float(image[i + a, j + b, 0] * kernel[a, b, 0, d] * other[i, j, d])
        for i in range(2)
        for j in range(2)
        for a in range(2)
        for b in range(2)
        for d in range(2)
    )
    assert float(graphs.Convolution(kernel, padding="VALID")(image, other)) == pytest.approx(by_hand, rel=1e-6)


def test_clamped_units_stay_and_the_others_descend():
    graph = random_graph(1)
    states = graph.random(jax.random.key(3))
    name, *_, last = graph.layers
    half = jnp.arange(graph.layers[last].shape[0]) < 2
    end = graphs.descend(graph, states, 20, clamped={name: True, last: half})
    np.testing.assert_array_equal(end.state[name], states[name])
    np.testing.assert_array_equal(end.state[last][:2], states[last][:2])
    assert end.energies[-1] < end.energies[0]


def test_the_flow_follows_the_slope_and_ends_where_the_steps_end():
    """dx/dt = −(x − b) from 0: x(t) = b (1 − e^{−rate t})."""
    bias = jnp.array([1.0, -2.0])
    graph = graphs.Graph({"x": graphs.Layer((2,))}, [("x", graphs.Bias(bias))])
    times = jnp.array([0.0, 0.5, 2.0])
    found = graphs.flow(graph, graph.zeros(), times, rates={"x": 2.0})["x"]
    np.testing.assert_allclose(found, np.outer(1 - np.exp(-2 * times), bias), atol=1e-5)
    graph = graphs.two_layers(jnp.asarray(RNG.normal(size=(3, 4))), visible=graphs.Tanh())
    start = graph.random(jax.random.key(0))
    path = graphs.flow(graph, start, jnp.linspace(0.0, 5.0, 9), clamped={"visible": jnp.arange(4) < 1})
    energies = quick(jax.vmap(graph.energy))(path)
    assert np.all(np.diff(energies) < 1e-6)
    np.testing.assert_array_equal(path["visible"][:, 0], start["visible"][0])


def test_gradients_reach_the_synapses_through_the_descent():
    weights = jnp.asarray(RNG.normal(size=(3, 4)))

    def end(weights):
        graph = graphs.two_layers(weights)
        return graph.energy(graph.zeros() | {"visible": jnp.ones(4)})

    moved = 1e-6 * jnp.zeros_like(weights).at[1, 2].set(1.0)
    change = (end(weights + moved) - end(weights - moved)) / 2e-6
    assert float(jax.grad(end)(weights)[1, 2]) == pytest.approx(float(change), rel=1e-5)

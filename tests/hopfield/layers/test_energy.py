"""The energy transformer descends on the energy it states."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from hopfield.layers import EnergyTransformerBlock
from tests.hopfield.layers.building import options as grouped

X = jax.random.normal(jax.random.key(0), (2, 5, 8), jnp.float32)
LARGE = nnx.initializers.normal(0.5)


def block(**options):
    options = {"steps": 15, "step_size": 0.1, "kernel_init": LARGE} | options
    return EnergyTransformerBlock(8, 2, 6, **grouped(options), rngs=nnx.Rngs(0))


def test_energy_is_the_published_one():
    """−Σ log Σ exp(β k·q)/β over the other tokens, less ½ Σ relu(ξ·g)², token by token in numpy."""
    module = block(beta=np.array([0.7, 1.3]))
    module.shift[...] = jnp.linspace(-1.0, 1.0, 8, dtype=jnp.float32)
    module.log_scale[...] = jnp.asarray(0.3, jnp.float32)
    x = np.asarray(X, np.float64)
    g = np.exp(0.3) * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    g = g + np.linspace(-1.0, 1.0, 8)
    energy = np.zeros(2)
    for sample in range(2):
        for h, beta in enumerate((0.7, 1.3)):
            query, key = (g[sample] @ np.asarray(w[...], np.float64)[h] for w in (module.query, module.key))
            for i in range(5):
                others = [beta * key[j] @ query[i] for j in range(5) if j != i]
                energy[sample] -= np.log(np.sum(np.exp(others))) / beta
        stored = g[sample] @ np.asarray(module.patterns[...], np.float64).T
        energy[sample] -= 0.5 * np.sum(np.maximum(stored, 0.0) ** 2)
    np.testing.assert_allclose(module.energy(X), energy, rtol=1e-5)


@pytest.mark.parametrize("options", [{}, {"separation": "sparsemax", "memory": "softmax"}], ids=["published", "sparse"])
def test_total_energy_never_rises(options):
    module = block(**options)
    found = nnx.jit(lambda m, x: m.inspect(x))(module, X)
    assert found.energy.shape == (16, 2)
    falls = np.diff(np.asarray(found.energy), axis=0)
    assert np.all(falls <= 1e-5 * np.abs(found.energy[:-1]))
    assert np.all(found.energy[-1] < found.energy[0] - 1.0)
    np.testing.assert_allclose(nnx.jit(lambda m, x: m(x))(module, X), found.state, atol=1e-6)
    weights = np.asarray(found.weights)
    assert np.all(np.diagonal(weights, axis1=-2, axis2=-1) == 0)
    np.testing.assert_allclose(weights.sum(-1), 1.0, atol=1e-6)

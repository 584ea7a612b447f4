"""Values that a compiled function closes over are known: they are checked as outside of it, and stop no compilation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import graphs, optim
from hopfield.attention import FastWeights, padding
from hopfield.fisher import fisher
from hopfield.networks.binary import covariance_network, willshaw_network
from hopfield.networks.sequences import SequenceMemory
from hopfield.patterns.sources import Packed

RNG = np.random.default_rng(0)
BITS = jnp.asarray(RNG.integers(0, 2, (3, 8)), jnp.float64)
SPINS = 2 * BITS - 1
CLASSES = jnp.asarray([0, 2, 1])
ROWS = jnp.asarray(RNG.normal(size=(3, 4)))
WEIGHTS = jnp.asarray([1.0, 0.5, 2.0])
DECAY = jnp.asarray([0.5, 0.9, 1.0])
FRAME = jnp.linalg.qr(ROWS.T)[0]
TIMES = jnp.asarray([0.0, 1.0])
GRAPH = graphs.Graph({"x": graphs.Layer((4,))}, [])


def empirical(params, **given):
    return fisher(lambda w, x: x @ w, params, inputs=ROWS, likelihood="categorical", kind="empirical", **given)


USES = {
    "covariance_network": lambda w: covariance_network(BITS).matrix,
    "willshaw_network": lambda w: willshaw_network(BITS).matrix,
    "classes": lambda w: empirical(w, targets=CLASSES).diagonal(),
    "weights": lambda w: empirical(w, targets=CLASSES, weights=WEIGHTS).diagonal(),
    "fast weights": lambda w: FastWeights(4).attend(ROWS, ROWS, ROWS, decay=DECAY)[0],
    "packed": lambda w: Packed(SPINS).bits,
    "sequence": lambda w: SequenceMemory(SPINS).patterns,
    "lengths": lambda w: padding(CLASSES).dense(3, 3),
    "manifold": lambda w: optim.riemannian_gradient_descent(0.1, "stiefel").init(FRAME),
    "times": lambda w: graphs.flow(GRAPH, {"x": ROWS[0]}, TIMES)["x"],
}


@pytest.mark.parametrize("name", USES)
def test_arrays_of_values_may_be_closed_over(name):
    start = jnp.asarray(RNG.normal(size=(4, 3)))
    for a, b in zip(*(jax.tree.leaves(run(start)) for run in (jax.jit(USES[name]), USES[name])), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)

"""Learned memories: their answers, gradients and references against closed forms, and what the experiment refuses."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas
import pytest

from experiments.capacity_learned import families, memories
from experiments.capacity_learned.config import LEVEL, Config, Kind, kind
from experiments.capacity_learned.experiment import measure, points, summarise
from hopfield import Memory, spaces
from tests.experiments.estimates import value

pytestmark = pytest.mark.usefixtures("as_run")

N, M = 6, 4
RNG = np.random.default_rng(0)
STORED = jnp.asarray(RNG.standard_normal((M, N)), jnp.float32)
QUERY = STORED[1] + jnp.asarray(0.4 * RNG.standard_normal(N), jnp.float32)
ALL = jnp.ones(M, bool)
SMALL = Config(patterns=[4, 16], strengths=[1.5], steps=40, draws=4, held=4, queries=8, adam_rates=[0.03, 0.1])


def memory(parts: Kind, params: memories.Params, given: jax.Array, mask: jax.Array = ALL):
    return memories.build(parts, params, given, jnp.float32(0.4), STORED, mask)


def answered(parts: Kind, params: memories.Params, given: jax.Array, max_steps: int = 200) -> jax.Array:
    return memories.answer(parts, memory(parts, params, given), QUERY, max_steps)


@pytest.mark.parametrize(
    "text", ["dot/definite/softmax", "dot/full/softmax", "distance/diagonal/softmax", "dot/definite/network"]
)
def test_gradients_of_fixed_points_are_those_of_updates_unrolled(text):
    single = kind(text)
    iterated = single._replace(dynamics="iterated")
    first = memories.start(single, N, jax.random.key(1))
    params = jax.tree.map(lambda leaf: leaf + 0.05 * jnp.cos(jnp.arange(leaf.size)).reshape(leaf.shape), first)

    def unrolled(values):
        held, state = memory(single, values, jnp.eye(N)), QUERY
        state, _ = jax.lax.scan(lambda x, _: (memories.answer(single, held, x, 1), None), state, length=200)
        return jnp.sum((state - STORED[1]) ** 2)

    def implicit(values):
        return jnp.sum((answered(iterated, values, jnp.eye(N)) - STORED[1]) ** 2)

    (value, found), (expected, known) = (jax.jit(jax.value_and_grad(f))(params) for f in (implicit, unrolled))
    np.testing.assert_allclose(value, expected, rtol=1e-3)
    largest = max(float(jnp.max(jnp.abs(leaf))) for leaf in jax.tree.leaves(known))
    assert largest > 1e-3
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(known), strict=True):
        np.testing.assert_allclose(one, other, atol=2e-3 * largest)


def test_the_projection_with_linear_weights_is_that_on_the_span():
    parts = kind("dot/projection/linear")
    found = answered(parts, memories.start(parts, N, jax.random.key(0)), jnp.eye(N))
    rows = np.asarray(STORED, np.float64)
    expected = rows.T @ np.linalg.solve(rows @ rows.T, rows @ np.asarray(QUERY, np.float64))
    cosine = found @ expected / np.linalg.norm(found) / np.linalg.norm(expected)
    assert cosine == pytest.approx(1.0, abs=1e-5)


NETWORK = families.Network(*(jnp.asarray(RNG.normal(size=5), jnp.float32) for _ in range(3)))


def test_a_network_is_convex_and_increasing_whatever_its_numbers_are():
    """Weights are the slope of the potential, none negative, and rise with the score."""
    z = jnp.linspace(-6.0, 6.0, 60, dtype=jnp.float32)
    weights = NETWORK.weights(z)
    np.testing.assert_allclose(jax.grad(NETWORK.potential)(z), weights, rtol=1e-5)
    assert (weights > 0).all()
    assert (jnp.diff(weights) > 0).all()
    np.testing.assert_allclose(
        NETWORK.shares(z, z > 0), jnp.where(z > 0, weights, 0.0) / weights[z > 0].sum(), rtol=1e-5
    )


@pytest.mark.parametrize("space", [spaces.Euclidean(), spaces.Sphere()], ids=["line", "sphere"])
def test_the_energy_of_a_network_never_rises(space):
    held = Memory(STORED, 0.7, separation=NETWORK, space=space)
    states = jnp.asarray(RNG.standard_normal((30, N)), jnp.float32)
    states = states / jnp.linalg.norm(states, axis=1, keepdims=True)
    path = [jax.vmap(held.energy)(states)]
    for _ in range(5):
        states = jax.vmap(held.update)(states)
        path.append(jax.vmap(held.energy)(states))
    energies = jnp.stack(path)
    assert (jnp.diff(energies, axis=0) <= 1e-4 * jnp.abs(energies[:-1])).all()
    assert (energies[-1] < energies[0] - 0.01).any()


@pytest.fixture(scope="module")
def table() -> pandas.DataFrame:
    return pandas.DataFrame(list(measure(SMALL, points(SMALL))))


@pytest.mark.physics
def test_learning_lowers_the_error_on_draws_that_it_has_not_seen(table):
    fresh = table[(table["data"] == "fresh") & (table["draws"] == 4)]
    error = fresh.groupby(["metric", "optimiser"])["error"].mean()
    for metric in ("identity", "definite"):
        for optimiser in ("adam", "natural"):
            assert error[metric, optimiser] < 0.9 * error[metric, "none"]


def test_summary_has_the_patterns_held_at_equal_error_and_their_growth():
    """Errors of M/1000 before and M/4000 after: 50 and 200 patterns at an error of 0.05, on logits nearly so."""
    loads = 2.0 ** np.arange(3, 11)
    base = dict(zip(("task", "similarity", "separation", "dynamics"), ("t", "dot", "softmax", "single"), strict=True))
    learned = dict.fromkeys(("beta", "rate", "seconds", "further_error", "number", "identified", "entropy"), 1.0)
    learned |= {f"cosine_{name}": 1.0 for name in ("identity", "whitening", "matched")}
    rows = []
    for metric, optimiser, scale in (("identity", "none", 1e3), ("identity", "adam", 1e3), ("full", "adam", 4e3)):
        cells = [("fresh", load, load / scale) for load in loads] + [("seen", 128.0, 0.01)] * (optimiser == "adam")
        for sample in range(3):
            about = base | learned | {"metric": metric, "optimiser": optimiser, "draws": 4, "sample": sample}
            rows += [about | {"data": d, "patterns": m, "error": e, "strength": 1.0} for d, m, e in cells]
    found = summarise(pandas.DataFrame(rows))
    held = found.of("patterns held").set_index(["metric", "optimiser"])["value"]
    assert held["identity", "none"] == pytest.approx(1000 * LEVEL, rel=0.02)
    assert held["full", "adam"] == pytest.approx(4000 * LEVEL, rel=0.02)
    about = {"over": "identity", "metric": "full"}
    assert value(found, "growth of patterns held", **about) == pytest.approx(4.0, rel=0.02)
    assert value(found, "gap of the error", metric="full") == pytest.approx(128 / 4e3 - 0.01)

"""Numbers at the ends of their range and arguments of another kind: the right number, or one sentence."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import Couplings, Memory, glauber, retrieve, separations, trajectory
from hopfield._numerics import largest, safe_norm, unit
from hopfield.patterns import datasets
from hopfield.separations import as_separation
from hopfield.similarities import Cosine
from hopfield.spaces import Spins

SPINS = np.array([[1.0, -1.0, 1.0, 1.0], [1.0, 1.0, -1.0, 1.0]])
KEY = jax.random.key(0)


def single(x) -> jax.Array:
    return jnp.asarray(x, jnp.float32)


@pytest.mark.parametrize("scale", [1e-36, 1e-25, 1e25, 3e38])
def test_unit_vectors_and_cosines_do_not_depend_on_the_scale(scale):
    x, others = np.array([0.3, -0.8, 0.5]), np.array([[1.0, 0.2, -0.4], [-0.5, 0.5, 0.1]])
    np.testing.assert_allclose(jax.jit(unit)(single(scale * x)), unit(single(x)), rtol=1e-6)
    np.testing.assert_allclose(Cosine()(single(scale * x), single(scale * others)), Cosine()(x, others), rtol=1e-5)
    np.testing.assert_allclose(safe_norm(single(scale * x) / 2), scale / 2 * np.linalg.norm(x), rtol=1e-6)


def test_patterns_of_any_size_are_scaled_and_standardised():
    np.testing.assert_allclose(
        datasets.standardise(single([[1e30, 2e30, 0.0]])), [[0.0, 1.5**0.5, -(1.5**0.5)]], atol=1e-6
    )
    np.testing.assert_allclose(datasets.standardise(single([[3e38, -3e38]])), [[1.0, -1.0]], rtol=1e-6)
    np.testing.assert_allclose(
        datasets.to_norm(single([[1e-30, 0.0], [0.0, 0.0]]), 2.0), [[2.0, 0.0], [0.0, 0.0]], rtol=1e-6
    )


@pytest.mark.parametrize("shape", [(36, 106), (1, 2, 36, 106)])
def test_the_largest_of_nan_is_nan_at_every_shape(shape):
    for at in (0, 105):
        found = np.asarray(jax.jit(largest, static_argnums=1)(jnp.zeros(shape).at[..., 3, at].set(jnp.nan), -1))
        assert np.isnan(found[..., 3]).all()
        assert np.isnan(found).sum() == found[..., 3].size
    assert largest(jnp.zeros(0)) == -np.inf


@pytest.mark.parametrize("name", separations.NAMES)
def test_every_name_means_the_same_in_a_memory_and_in_a_layer(name):
    spec = f"{name}:2" if separations.NAMES[name].number else name
    found = separations.find(spec)
    for built in (Memory(SPINS, separation=spec).separation, as_separation(spec)):
        assert jax.tree.structure(built) == jax.tree.structure(found)
    with pytest.raises(ValueError, match=r"after the colon|without a number"):
        separations.find(f"{name}:x")


MEMORY = Memory(SPINS, 0.25, separation="linear", space=Spins())
COUPLINGS = Couplings(np.ones((4, 4)))
VERBS = {
    "scores": MEMORY.scores,
    "weights": MEMORY.weights,
    "shares": MEMORY.shares,
    "energy": MEMORY.energy,
    "read": MEMORY.read,
    "update": MEMORY.update,
    "local_field": MEMORY.local_field,
    "couplings energy": COUPLINGS.energy,
    "couplings update": COUPLINGS.update,
    "couplings local_field": COUPLINGS.local_field,
    "retrieve": lambda x: retrieve(MEMORY, x).state,
    "sequential": lambda x: retrieve(COUPLINGS, x, dynamics="sequential").state,
    "trajectory": lambda x: trajectory(MEMORY, x, 2),
    "glauber": lambda x: glauber(MEMORY, x, KEY, 0.5, sweeps=2).mean,
}


@pytest.mark.parametrize("verb", VERBS)
def test_lists_and_integers_are_states_and_batches_are_not(verb):
    function, state = VERBS[verb], [1, -1, 1, 1]
    expected = function(jnp.asarray(state, float))
    for other in (state, np.array(state), np.array(state, np.int8)):
        found = function(other)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype
    for bad in (SPINS, SPINS[0, :3], 1.0):
        with pytest.raises(ValueError, match=r"state must have shape \[4\] \(batch with jax.vmap\), got shape \("):
            function(bad)
    with pytest.raises(ValueError, match="state must be an array of real numbers, got str 'up'"):
        function("up")
    with pytest.raises(ValueError, match="state must be real numbers, got complex128"):
        function(np.ones(4, complex))

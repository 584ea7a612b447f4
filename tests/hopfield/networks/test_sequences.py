"""Sequence memories: the published rules by hand, what they follow, and what refuses them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import trajectory
from hopfield.networks.sequences import SequenceMemory
from hopfield.theory import sequences as theory
from tests.hopfield.contracts.parts import quick

RNG = np.random.default_rng(11)
M, N = 5, 24
PATTERNS = RNG.choice([-1.0, 1.0], size=(M, N))
STATES = RNG.choice([-1.0, 1.0], size=(6, N))


def by_hand(patterns, state, degree, ratio):
    """The rule with every sum written out."""
    count, neurons = patterns.shape
    new = np.empty(neurons)
    for i in range(neurons):
        field = 0.0
        for mu in range(count):
            x = sum(patterns[mu, j] * state[j] for j in range(neurons) if j != i) / (neurons - 1)
            f = np.exp((neurons - 1) * (x - 1)) if degree is None else x**degree
            field += (patterns[(mu + 1) % count, i] + ratio * patterns[mu, i]) * f
        new[i] = state[i] if abs(field) < 1e-13 else np.sign(field)
    return new


@pytest.mark.parametrize("ratio", [0.0, 0.7])
@pytest.mark.parametrize("degree", [1, 2, 3, None])
def test_one_step_is_the_published_rule(degree, ratio):
    model = SequenceMemory(jnp.asarray(PATTERNS, jnp.float32), degree, ratio=ratio)
    found = quick(jax.vmap(model.update))(jnp.asarray(STATES, jnp.float32))
    np.testing.assert_array_equal(found, [by_hand(PATTERNS, state, degree, ratio) for state in STATES])


@pytest.mark.parametrize("degree", [2, 3, None])
def test_a_short_sequence_is_followed_round_and_round(degree):
    model = SequenceMemory(jnp.asarray(PATTERNS[:3]), degree)
    states = trajectory(model, jnp.asarray(PATTERNS[0]), 7)
    np.testing.assert_array_equal(states, PATTERNS[np.arange(8) % 3])


def test_fields_of_any_degree_have_the_sign_of_whole_numbers():
    """(32/64)^150 is below every float32."""
    patterns = np.random.default_rng(1).choice([-1, 1], size=(4, 33))
    sums = (patterns @ patterns.T)[:, :, None] - patterns * patterns[:, None]
    expected = np.sign(np.sum(np.roll(patterns, -1, 0) * sums.astype(object) ** 150, axis=1).astype(float))
    model = SequenceMemory(jnp.asarray(patterns, jnp.float32), 150)
    found = quick(jax.vmap(model.local_field))(jnp.asarray(patterns, jnp.float32))
    np.testing.assert_array_equal(np.sign(found), expected)


def test_an_open_sequence_ends_in_its_last_pattern():
    model = SequenceMemory(jnp.asarray(PATTERNS[:3]), 3, cyclic=False)
    states = trajectory(model, jnp.asarray(PATTERNS[0]), 6)
    np.testing.assert_array_equal(states[-4:], PATTERNS[[2, 2, 2, 2]])


def test_the_pseudo_inverse_follows_correlated_patterns_that_the_plain_rule_loses():
    shared = RNG.choice([-1.0, 1.0], size=N)
    correlated = np.where(RNG.random((M, N)) < 0.7, shared, RNG.choice([-1.0, 1.0], size=(M, N)))
    start, expected = jnp.asarray(correlated[0]), correlated[np.arange(2 * M) % M]
    plain = trajectory(SequenceMemory(jnp.asarray(correlated), 1), start, 2 * M - 1)
    apart = trajectory(SequenceMemory(jnp.asarray(correlated), 1, pseudo_inverse=True), start, 2 * M - 1)
    assert not np.array_equal(plain, expected)
    np.testing.assert_array_equal(apart, expected)


@pytest.mark.parametrize(("degree", "neurons", "patterns"), [(1, 30, 8), (2, 20, 30), (None, 12, 300)])
def test_measured_bit_errors_are_the_exact_ones(degree, neurons, patterns):
    samples = 40 if degree is None else 400

    def wrong(key):
        rows = jax.random.rademacher(key, (patterns, neurons), jnp.float32)
        new = jax.vmap(SequenceMemory(rows, degree).update)(rows[:30])
        return jnp.mean(new != jnp.roll(rows, -1, axis=0)[:30])

    errors = np.asarray(quick(lambda keys: jax.lax.map(wrong, keys))(jax.random.split(jax.random.key(3), samples)))
    mean, stderr = errors.mean(), errors.std() / np.sqrt(samples)
    exact = float(theory.bit_error(neurons, patterns, degree))
    # A tie leaves a spin as it was, which is right half of the time.
    assert abs(mean - exact) < 3 * stderr
    assert stderr < 0.1 * exact

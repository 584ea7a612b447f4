"""Patterns counted by overlap and bit: against loops in numpy, and the memories' own updates."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import large, memories
from hopfield.large import counts
from hopfield.patterns.sources import Generated, Packed, Stored

N, M, Q = 21, 3000, 5
SOURCE = Generated(jax.random.key(1), "spins", M, N)
PATTERNS = np.asarray(SOURCE.rows(0, M))
QUERIES = PATTERNS[:Q] * np.where(np.random.default_rng(2).random((Q, N)) < 0.1, -1.0, 1.0)


def by_hand(patterns, query):
    number, up = np.zeros(N + 1, int), np.zeros((N + 1, N), int)
    for row in patterns:
        k = int(N - row @ query) // 2
        number[k] += 1
        up[k] += row > 0
    return number, up


@pytest.mark.parametrize("kind", ["generated", "packed", "stored", "array"])
def test_counts_are_those_of_a_loop(kind):
    source = {"generated": SOURCE, "packed": Packed(PATTERNS), "stored": Stored(PATTERNS), "array": PATTERNS}[kind]
    found = counts.count(source, QUERIES)
    for i in range(Q):
        number, up = by_hand(PATTERNS, QUERIES[i])
        np.testing.assert_array_equal(found.number[i], number)
        np.testing.assert_array_equal(found.up[i], up)
    assert found.num_patterns == M


def test_one_pass_gives_every_number_of_patterns(monkeypatch):
    monkeypatch.setattr(counts, "CHUNK", 700)
    sizes = [3000, 1, 701, 1400]
    found = list(counts.along(SOURCE, QUERIES, sizes))
    assert [one.num_patterns for one in found] == sorted(sizes)
    for one in found:
        np.testing.assert_array_equal(one.number[2], by_hand(PATTERNS[: one.num_patterns], QUERIES[2])[0])


@pytest.mark.parametrize("beta", [0.1, 1.0])
def test_softmax_statistics_are_those_of_all_weights(beta):
    found, z = counts.count(SOURCE, QUERIES), beta * QUERIES @ PATTERNS.T
    p = np.exp(z - z.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    np.testing.assert_allclose(found.log_partition(beta), np.log(np.exp(z).sum(1)), rtol=1e-13)
    np.testing.assert_allclose(found.entropy(beta), -(p * np.log(p)).sum(1), rtol=1e-11)
    own = np.sum(PATTERNS[:Q] * QUERIES, axis=1)
    np.testing.assert_allclose(found.target_weight(own, beta), p[np.arange(Q), np.arange(Q)], rtol=1e-12)
    read = found.read(lambda s: np.exp(beta * s)) / np.exp(found.log_partition(beta))[:, None]
    np.testing.assert_allclose(read, p @ PATTERNS, atol=1e-13)


@pytest.mark.parametrize(
    ("memory", "function", "options"),
    [
        ("exponential", lambda s: np.exp(0.7 * s), {"beta": 0.7}),
        ("dense:3", lambda s: s**3 / 3, {}),
        ("dense:4", lambda s: s**4 / 4, {}),
        ("classical", lambda s: s**2 / 2, {}),
    ],
)
def test_updates_are_those_of_the_memory(memory, function, options):
    model = memories.find(memory).build(jnp.asarray(PATTERNS), **options)
    found = counts.count(SOURCE, QUERIES)
    np.testing.assert_array_equal(found.update(function), jax.vmap(model.update)(jnp.asarray(QUERIES)))
    fields, expected = found.fields(function), np.asarray(jax.vmap(model.local_field)(jnp.asarray(QUERIES)))
    scale = fields[0, 0] / expected[0, 0]  # the model's β and powers of N
    np.testing.assert_allclose(fields, scale * expected, rtol=1e-9)
    potential = np.array([function(PATTERNS @ query).sum() for query in QUERIES])
    np.testing.assert_allclose(found.potential(function), potential, rtol=1e-12)


@pytest.mark.parametrize(("spec", "options"), [("exponential", {"beta": 0.25}), ("dense:3", {}), ("dense:4", {})])
def test_fields_of_512_spins_are_half_the_energy_that_a_spin_decides(spec, options):
    """From ±1 at the spin itself, written out: neither counts nor blocks let the own spin in."""
    patterns = np.random.default_rng(4).choice([-1.0, 1.0], size=(257, 512))
    queries = patterns[:2] * np.where(np.random.default_rng(5).random((2, 512)) < 0.2, -1.0, 1.0)
    model = memories.find(spec).build(jnp.asarray(patterns), **options)
    function = counts.summand(model).potential
    rest = (queries @ patterns.T)[:, :, None] - queries[:, None, :] * patterns
    expected = 0.5 * np.sum(function(rest + patterns) - function(rest - patterns), axis=1)
    found = counts.count(Packed(patterns), queries)
    fields, expected = (rows / np.abs(rows).max(1, keepdims=True) for rows in (found.fields(model), expected))
    np.testing.assert_allclose(fields, expected, rtol=1e-9, atol=1e-9)
    blocks = np.asarray(large.local_field(model.replace(patterns=Stored(patterns)), jnp.asarray(queries), block=100))
    np.testing.assert_array_equal(found.update(model), np.sign(blocks))


@pytest.mark.parametrize(("spec", "options"), [("exponential", {"beta": 1.0}), ("dense:150", {}), ("dense:151", {})])
def test_terms_of_far_queries_do_not_vanish_nor_those_of_near_ones_overflow(spec, options):
    """Random queries of 1000 spins: e^(β(s − N)) is below double precision, s^150 above it at the pattern itself."""
    rng = np.random.default_rng(0)
    patterns = rng.choice([-1.0, 1.0], size=(40, 1000))
    queries = np.concatenate([rng.choice([-1.0, 1.0], size=(3, 1000)), patterns[:1]])
    model = memories.find(spec).build(jnp.asarray(patterns), **options)
    found = counts.count(patterns, queries)
    np.testing.assert_array_equal(found.update(model), jax.vmap(model.update)(jnp.asarray(queries)))
    shares = np.asarray(jax.vmap(model.shares)(jnp.asarray(queries)))
    np.testing.assert_allclose(found.shares((queries @ patterns.T)[:, 5], model), shares[:, 5], rtol=1e-9)
    entropy = -np.sum(shares * np.log(np.where(shares > 0, shares, 1)), axis=1)
    np.testing.assert_allclose(found.share_entropy(model), entropy, rtol=1e-9, atol=1e-10)


def test_a_tie_keeps_the_spin():
    """Two opposite patterns cancel at every spin that the query shares with one of them only."""
    rows = np.array([[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, -1.0, -1.0]])
    query = np.array([[1.0, 1.0, 1.0, -1.0]])
    found = counts.count(Packed(rows), query)
    np.testing.assert_array_equal(found.update(lambda s: s**2 / 2)[0, :2], [1.0, 1.0])
    fields = found.fields(lambda s: s**2 / 2)
    by_hand = [(rows[:, i] * (rows @ query[0] - rows[:, i] * query[0, i])).sum() for i in range(4)]
    np.testing.assert_array_equal(fields[0], by_hand)
    np.testing.assert_array_equal(
        found.update(lambda s: s**2 / 2)[0], np.where(fields[0] == 0, query[0], np.sign(fields[0]))
    )

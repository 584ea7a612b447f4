"""Reading in blocks: equal to the memory that holds all patterns, whatever the blocks and the source."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import Memory, large, separations
from hopfield._pytrees import unchecked
from hopfield.large import _running
from hopfield.patterns.sources import Generated, Mapped, Packed, Stored
from hopfield.similarities import Cosine, Dot, Manhattan, SquaredDistance
from hopfield.spaces import Euclidean
from tests.hopfield.contracts.parts import quick

M, N, Q, BETA = 307, 6, 4, 0.7
PATTERNS = jax.random.normal(jax.random.key(0), (M, N))
QUERIES = jax.random.normal(jax.random.key(1), (Q, N))
SEPARATIONS = {
    "log_sum_exp": separations.LogSumExp(),
    "exponential": separations.Exponential(),
    "linear": separations.Linear(),
    "rectified": separations.Polynomial(3, rectified=True),
    "log_relu": separations.LogReLU(),
    "sparsemax": separations.Sparsemax(),
    "entmax": separations.Entmax(1.5),
    "near_softmax": separations.Entmax(1.1),
}


def held(separation, similarity=Dot(), patterns=PATTERNS, values=None):
    parts = {"similarity": similarity, "separation": separation, "space": Euclidean()}
    return unchecked(Memory, patterns=patterns, beta=jnp.asarray(BETA), values=values, **parts)


def reads(patterns, queries, block=None, **parts):
    return large.read(Memory(patterns, **parts), queries, block=block)


def spreads(patterns, queries, targets=None, top=1, block=None, **parts):
    return large.statistics(Memory(patterns, **parts), queries, targets=targets, top=top, block=block)


def expected(memory):
    """Potential, output, entropy, shares and scores from all weights at once."""

    def one(x):
        z = memory.beta * memory.scores(x)
        p = memory.shares(x)
        entropy = -jnp.sum(jnp.where(p > 0, p * jnp.log(jnp.where(p > 0, p, 1.0)), 0.0))
        return memory.separation.potential(z), memory.read(x), entropy, p, z

    return jax.vmap(one)(QUERIES)


@pytest.mark.parametrize("name", SEPARATIONS)
def test_statistics_are_those_of_all_weights_at_once(name):
    memory = held(SEPARATIONS[name])
    potential, output, entropy, shares, z = expected(memory)
    targets = jnp.array([3, 200, 306, 0])
    found, spread = spreads(
        PATTERNS, QUERIES, beta=BETA, separation=SEPARATIONS[name], targets=targets, top=3, block=50
    )
    np.testing.assert_allclose(found.potential, potential, rtol=1e-12)
    np.testing.assert_allclose(found.output, output, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(spread.entropy, entropy, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(spread.target_weight, shares[jnp.arange(Q), targets], rtol=1e-10, atol=1e-15)
    top, index = jax.lax.top_k(z, 3)
    np.testing.assert_allclose(spread.top_scores, top, rtol=1e-13)
    np.testing.assert_array_equal(spread.top_patterns, index)
    np.testing.assert_allclose(spread.largest, top[:, 0], rtol=1e-13)


@pytest.mark.parametrize("block", [1, 50, 307, 1000])
@pytest.mark.parametrize("kind", ["stored", "mapped"])
def test_blocks_and_sources_change_nothing(tmp_path, kind, block):
    np.save(tmp_path / "rows.npy", np.asarray(PATTERNS))
    source = PATTERNS if kind == "stored" else Mapped(tmp_path / "rows.npy")
    for name in ("log_sum_exp", "sparsemax"):
        found = reads(source, QUERIES, beta=BETA, separation=SEPARATIONS[name], block=block)
        potential, output, *_ = expected(held(SEPARATIONS[name]))
        np.testing.assert_allclose(found.potential, potential, rtol=1e-12)
        np.testing.assert_allclose(found.output, output, rtol=1e-11, atol=1e-13)


def test_a_file_larger_than_a_part_is_merged(tmp_path, monkeypatch):
    """Parts of 2^22 numbers: here the walk is forced to take several of them."""
    np.save(tmp_path / "rows.npy", np.asarray(PATTERNS))
    monkeypatch.setattr(_running, "PART", 100 * N)
    targets = jnp.arange(Q) * 76
    for name in ("log_sum_exp", "entmax"):
        options = {"beta": BETA, "separation": SEPARATIONS[name], "targets": targets, "top": 5}
        found = spreads(Mapped(tmp_path / "rows.npy"), QUERIES, block=30, **options)
        same = spreads(PATTERNS, QUERIES, **options)
        jax.tree.map(partial(np.testing.assert_allclose, rtol=1e-11, atol=1e-13), found, same)


def test_generated_and_packed_spins_read_alike():
    source = Generated(jax.random.key(5), "spins", 777, 40)
    rows, queries = source.rows(0, 777), source.rows(0, 3)
    options = {"beta": 0.2, "targets": jnp.arange(3), "top": 2, "block": 100}
    reference = spreads(rows, queries, **options)
    for other in (source, Packed(rows), Stored(rows)):
        found = spreads(other, queries, **options)
        jax.tree.map(partial(np.testing.assert_allclose, rtol=1e-12), found, reference)


MANY = 10**10
"""More patterns than 32 bits can number; of these the last M are read."""


def ending(monkeypatch, patterns):
    monkeypatch.setattr(Generated, "parts", lambda self, size: iter([(MANY - M, Stored(patterns))]))
    return Generated(jax.random.key(5), "gaussian", MANY, N)


def test_patterns_are_numbered_beyond_32_bits(monkeypatch):
    source = ending(monkeypatch, PATTERNS)
    targets = jnp.array([3, 200, 306, 0])
    found = spreads(source, QUERIES, beta=BETA, targets=MANY - M + targets, top=3, block=50)
    same = spreads(PATTERNS, QUERIES, beta=BETA, targets=targets, top=3, block=50)
    np.testing.assert_array_equal(found[1].top_patterns, MANY - M + same[1].top_patterns)
    np.testing.assert_allclose(found[1].target_weight, same[1].target_weight, rtol=1e-12)


@pytest.mark.parametrize("similarity", [SquaredDistance(), Cosine(), Manhattan()], ids=lambda s: type(s).__name__)
def test_every_similarity_is_read(similarity):
    memory = held(separations.LogSumExp(), similarity)
    found = reads(PATTERNS, QUERIES, beta=BETA, similarity=similarity, block=64)
    np.testing.assert_allclose(found.output, expected(memory)[1], rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("name", ["log_sum_exp", "linear", "sparsemax", "entmax"])
def test_gradients_are_those_of_the_memory(name):
    separation = SEPARATIONS[name]

    def in_blocks(patterns, query, beta):
        found = reads(patterns, query[None], beta=beta, separation=separation, block=100)
        return jnp.sum(found.output[0] ** 2) + found.potential[0]

    def at_once(patterns, query, beta):
        memory = held(separation, patterns=patterns).replace(beta=beta)
        return jnp.sum(memory.read(query) ** 2) + separation.potential(beta * memory.scores(query))

    at = (PATTERNS, QUERIES[0], jnp.asarray(BETA))
    found, same = (quick(jax.grad(function, (0, 1, 2)))(*at) for function in (in_blocks, at_once))
    for a, b in zip(found, same, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", ["log_sum_exp", "sparsemax"])
def test_a_read_sets_aside_a_small_part_of_what_the_patterns_take(name):
    patterns = jax.ShapeDtypeStruct((100_000, 64), jnp.float32)
    queries = jax.ShapeDtypeStruct((8, 64), jnp.float32)
    read = jax.jit(lambda patterns, queries: reads(patterns, queries, separation=SEPARATIONS[name]))
    memory = read.lower(patterns, queries).compile().memory_analysis()
    assert memory.temp_size_in_bytes < 4 * patterns.size / 8

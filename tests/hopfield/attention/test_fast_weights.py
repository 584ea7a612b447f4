"""Fast weights: chunks are the loop, each rule is its definition, and what is stored is found as the theory says."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.attention import FastWeights, linear_attention
from hopfield.theory import linear
from tests.hopfield.contracts.parts import quick

RNG = np.random.default_rng(6)
T, D, V = 11, 5, 3
every_rule = pytest.mark.parametrize("rule", FastWeights.RULES)


def unit(*shape):
    x = RNG.normal(size=shape)
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


QUERY, KEY, VALUE = unit(T, D), unit(T, D), RNG.normal(size=(T, V))
STRENGTH, DECAY = RNG.uniform(0.2, 1.0, T), RNG.uniform(0.7, 1.0, T)


def by_definition(rule, steps=T, ridge=1e-3):
    """S after so many steps, in numpy, from the formulas of the module."""
    s = np.zeros((D, V))
    for k, v, b, a in zip(KEY[:steps], VALUE, STRENGTH, DECAY, strict=False):
        s = a * s + b * np.outer(k, v - (k @ (a * s) if rule == "delta" else 0.0))
    if rule == "pseudo_inverse":
        fades = np.cumprod(DECAY[:steps][::-1])[::-1] / DECAY[:steps]  # the decays after each step
        weight = (STRENGTH[:steps] * fades)[:, None]
        gram = (weight * KEY[:steps]).T @ KEY[:steps] + ridge * np.prod(DECAY[:steps]) * np.eye(D)
        s = np.linalg.solve(gram, (weight * KEY[:steps]).T @ VALUE[:steps])
    return s


@every_rule
@pytest.mark.parametrize("chunk", [4, 64])
def test_chunks_read_what_the_definition_reads_at_every_step(rule, chunk):
    """Chunks that do not divide the length; the decode, one pair at a time, ends in the same state."""
    memory = FastWeights(D, V, rule)
    found, end = memory.attend(QUERY, KEY, VALUE, strength=STRENGTH, decay=DECAY, chunk=chunk)
    expected = [QUERY[t] @ by_definition(rule, t + 1) for t in range(T)]
    np.testing.assert_allclose(found, expected, atol=1e-9)
    np.testing.assert_allclose(end.matrix, by_definition(rule), atol=1e-9)


@every_rule
def test_writing_pair_by_pair_ends_in_the_state_of_a_sequence(rule):
    write = jax.jit(lambda memory, k, v, s, a: memory.write(k, v, strength=s, decay=a))
    memory = FastWeights(D, V, rule)
    for row in zip(KEY, VALUE, STRENGTH, DECAY, strict=True):
        memory = write(memory, *row)
    _, end = FastWeights(D, V, rule).attend(QUERY, KEY, VALUE, strength=STRENGTH, decay=DECAY, chunk=4)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-8), memory, end)


@every_rule
def test_a_state_of_32_bits_stays_one_beside_64(rule):
    rows = [jnp.asarray(x, jnp.float32) for x in (QUERY, KEY, VALUE)]
    memory = FastWeights(D, V, rule, dtype=jnp.float32)
    found = memory.attend(*rows), memory.write(rows[1][0], rows[2][0])
    assert {x.dtype for x in jax.tree.leaves(found)} == {jnp.dtype(jnp.float32)}


@every_rule
def test_gradients_of_chunks_are_those_of_one_chunk_and_finite(rule):
    def loss(chunk):
        def of(query, key, value, strength, decay):
            found, end = FastWeights(D, V, rule).attend(query, key, value, strength=strength, decay=decay, chunk=chunk)
            return jnp.sum(jnp.sin(found)) + jnp.sum(end.matrix**2)

        return quick(jax.grad(of, argnums=(0, 1, 2, 3, 4)))(QUERY, KEY, VALUE, STRENGTH, DECAY)

    for got, wanted in zip(loss(3), loss(T), strict=True):
        assert np.all(np.isfinite(wanted))
        np.testing.assert_allclose(got, wanted, atol=1e-7)


def test_outer_products_are_causal_linear_attention_before_it_is_normalised():
    found, _ = FastWeights(D, V).attend(QUERY, np.abs(KEY), VALUE)
    total, _ = FastWeights(D, 1).attend(QUERY, np.abs(KEY), np.ones((T, 1)))

    class Plain:
        of_queries = of_keys = staticmethod(lambda x: x)

    expected = linear_attention(jnp.asarray(QUERY), jnp.abs(KEY), jnp.asarray(VALUE), features=Plain(), causal=True)
    np.testing.assert_allclose(found / total, expected, rtol=1e-9)


def test_capacity_is_that_of_theory():
    assert FastWeights(8, rule="outer").capacity() == pytest.approx(linear.capacity(8))


def test_delta_rules_are_matrix_products():
    """A batch of LAPACK's solves, in two programs at once, can wait for itself for ever on CPUs."""

    def many(rows):
        return jax.vmap(lambda x: FastWeights(D, D, "delta").attend(x, x, x, chunk=4)[0])(rows)

    text = jax.jit(jax.grad(lambda rows: many(rows).sum())).lower(jnp.zeros((2, 9, D))).as_text()
    assert "lapack" not in text
    assert "triangular_solve" not in text

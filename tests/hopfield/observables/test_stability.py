"""Jacobians, largest eigenvalues, regimes and error bounds of states, against dense algebra and known memories."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special

from hopfield import patterns
from hopfield.dynamics import retrieve
from hopfield.dynamics.regimes import GLOBAL_AVERAGE, METASTABLE_MIXTURE, REGIMES, SINGLE_PATTERN
from hopfield.memory import Memory
from hopfield.observables import stability
from hopfield.separations import Entmax, Exponential, Polynomial, TopK
from hopfield.similarities import Bilinear, SquaredDistance
from hopfield.spaces import Box, Euclidean, Sphere
from hopfield.theory import bounds
from tests.hopfield.contracts.parts import quick

RNG = np.random.default_rng(31)
N, M = 7, 9
PATTERNS = jnp.asarray(RNG.normal(size=(M, N)))
STATE = jnp.asarray(0.3 * RNG.normal(size=N))

MEMORIES = {
    "softmax": Memory(PATTERNS, 0.8),
    "softmax masked": Memory(PATTERNS, 0.8, mask=jnp.arange(M) < 6),
    "entmax": Memory(PATTERNS, 0.3, separation=Entmax(1.5)),
    "top k": Memory(PATTERNS, 0.8, separation=TopK(4)),
    "exponential": Memory(PATTERNS, 0.2, separation=Exponential()),
    "rectified cubic": Memory(PATTERNS, 0.5, separation=Polynomial(3, rectified=True)),
    "metric": Memory(PATTERNS, 0.4, similarity=Bilinear(RNG.normal(size=(N, N)))),
    "distance": Memory(PATTERNS, 0.4, similarity=SquaredDistance(), space=Euclidean(confined=False)),
    "sphere": Memory(PATTERNS, 0.8, space=Sphere(1.5)),
    "box": Memory(PATTERNS, 0.8, space=Box(0.7)),
}
every_memory = pytest.mark.parametrize("memory", MEMORIES.values(), ids=MEMORIES)


@quick
def diagnosed(memory, state):
    """J as a matrix, by products and by reverse differentiation, χ and the largest eigenvalue of J."""
    jacobian = stability.update_jacobian(memory, state)
    columns = [jacobian @ column for column in jnp.eye(state.size)]
    return (
        jacobian.dense(),
        jnp.stack(columns, axis=1),
        jax.jacrev(memory.update)(state),
        stability.susceptibility(memory, state),
        stability.largest_eigenvalue(jacobian, jax.random.key(0)),
    )


def covariance(memory, state):
    """β Cov_p(X) in numpy, p the softmax of β X x."""
    used = slice(None) if memory.mask is None else np.asarray(memory.mask)
    rows, beta = np.asarray(memory.patterns)[used], float(memory.beta)
    p = scipy.special.softmax(beta * rows @ np.asarray(state))
    return beta * np.cov(rows.T, aweights=p, ddof=0)


@every_memory
def test_jacobian_and_its_largest_eigenvalue_without_forming_it(memory):
    """dense = products = reverse mode; the eigenvalue is the largest of LAPACK's full spectrum."""
    *matrices, pair = diagnosed(memory, STATE)
    dense, columns, reverse, _ = map(np.asarray, matrices)
    np.testing.assert_allclose(columns, dense, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(dense, reverse, rtol=1e-10, atol=1e-13)
    spectrum = np.linalg.eigvals(dense)
    largest = spectrum[np.argmax(np.abs(spectrum))]
    assert abs(largest.imag) < 1e-10
    assert float(pair.value) == pytest.approx(largest.real, rel=1e-10)
    assert float(pair.residual) < 1e-9 * abs(largest)
    assert float(np.linalg.norm(pair.vector)) == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("name", ["softmax", "softmax masked", "sphere", "box"])
def test_susceptibility_of_softmax_is_beta_times_the_covariance_of_the_patterns(name):
    """χ = β Cov_p(X) on every space, and J = χ in ℝᴺ: physics of fluctuations and stability are one matrix there."""
    dense, _, _, susceptibility, _ = diagnosed(MEMORIES[name], STATE)
    expected = covariance(MEMORIES[name], STATE)
    np.testing.assert_allclose(susceptibility, expected, rtol=1e-11, atol=1e-14)
    if isinstance(MEMORIES[name].space, Euclidean):
        np.testing.assert_allclose(dense, expected, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("name", ["entmax", "exponential", "rectified cubic", "metric"])
def test_susceptibility_is_the_answer_to_a_field_on_the_patterns(name):
    """χ h = d/dε Σ_μ p_μ(s + ε X h) ξ_μ by finite differences, for weights that are no softmax, too."""
    memory, step, field = MEMORIES[name], 1e-6, jnp.asarray(RNG.normal(size=N))

    def mean(size):
        scores = memory.scores(STATE) + size * (PATTERNS @ field)
        return memory.separation.weights(memory.beta * scores) @ PATTERNS

    slope = (mean(step) - mean(-step)) / (2 * step)
    np.testing.assert_allclose(diagnosed(memory, STATE)[3] @ field, slope, rtol=1e-6, atol=1e-8)


def test_residual_tells_when_products_were_too_few():
    """The eigenvalues of random patterns lie dense (Marchenko & Pastur): 3 products do not find the last one, 32 do."""
    memory, state = Memory(jnp.asarray(RNG.normal(size=(400, 120))), 0.5), jnp.zeros(120)
    spectrum = np.linalg.eigvalsh(covariance(memory, state))
    few, many = (
        quick(
            lambda n=n: stability.largest_eigenvalue(
                stability.update_jacobian(memory, state), jax.random.key(0), max_iterations=n
            )
        )()
        for n in (3, 32)
    )
    assert spectrum[-1] - float(few.value) > 0.05
    assert np.min(np.abs(spectrum - float(few.value))) <= float(few.residual)
    assert float(few.residual) > 0.05
    assert 0 <= spectrum[-1] - float(many.value) < 1e-4
    assert float(many.residual) < 0.01


@pytest.mark.parametrize("beta", [0.5, 0.9, 1.0, 1.5])
def test_two_opposite_patterns_part_where_the_eigenvalue_reaches_one(beta):
    """d = 1, X = ±1: J = β (1 − tanh² βx), so x = 0 attracts for β < 1 and the pair x = ±m for β > 1."""
    memory = Memory(jnp.asarray([[1.0], [-1.0]]), beta)
    for x in (0.0, 0.3):
        jacobian = stability.update_jacobian(memory, jnp.asarray([x]))
        expected = beta * (1 - np.tanh(beta * x) ** 2)
        np.testing.assert_allclose(jacobian @ jnp.ones(1), expected, rtol=1e-14)
    near = retrieve(memory, jnp.asarray([0.3]), max_steps=2000).state
    assert (abs(float(near[0])) > 0.1) == (beta > 1)


find_regime = quick(stability.regime)


def test_the_three_regimes_of_a_clustered_memory():
    """Three near copies of one direction among 20 orthogonal patterns: all, then the three, then one as β grows."""
    stored = np.eye(22, 24) * 4
    stored[1], stored[2] = stored[0] + np.eye(24)[22], stored[0] + np.eye(24)[23]
    expected = {0.01: (GLOBAL_AVERAGE, 20), 0.8: (METASTABLE_MIXTURE, 3), 40.0: (SINGLE_PATTERN, 1)}
    for beta, (kind, count) in expected.items():
        memory = Memory(jnp.asarray(stored), beta)
        start = jnp.asarray(stored[1] if kind == SINGLE_PATTERN else stored[:3].mean(axis=0))
        found = find_regime(memory, retrieve(memory, start, max_steps=1000).state)
        assert REGIMES[int(found.kind)] == REGIMES[kind]
        assert found.num_patterns == count
        assert float(found.effective_number) == pytest.approx({20: 22, 3: 3, 1: 1}[count], rel=0.02)
        assert found.index < 3
        if kind == SINGLE_PATTERN:
            assert found.index == 1
            assert found.share > 0.999


@pytest.mark.parametrize("beta", [0.3, 1.0, 4.0])
def test_no_update_ends_beyond_the_bound_of_ramsauers_fifth_theorem(beta):
    """4000 states up to a third of the norm away from their pattern, and the patterns themselves."""
    stored = patterns.sphere(jax.random.key(3), 8, 20, radius=3.0)
    memory = Memory(stored, beta)
    keys = jax.random.split(jax.random.key(9), 2)
    directions = jax.random.normal(keys[0], (500, 8, 20))
    distance = jax.random.uniform(keys[1], (500, 8))
    states = stored[None] + distance[..., None] * directions / jnp.linalg.norm(directions, axis=-1, keepdims=True)
    after = quick(jax.vmap(jax.vmap(memory.update)))(states)
    measured = np.linalg.norm(np.asarray(after) - np.asarray(stored)[None], axis=-1)
    assert np.sum(measured > stability.retrieval_error_bound(memory, distance)) == 0
    clean, rows = stability.retrieval_error_bound(memory), np.asarray(stored)
    gap = np.sum(rows**2, axis=1) - np.max(rows @ rows.T - 1e9 * np.eye(8), axis=1)
    np.testing.assert_allclose(clean, bounds.retrieval_error(8, gap, beta, 3.0), rtol=1e-10)
    exact = np.linalg.norm(np.asarray(quick(jax.vmap(memory.update))(stored)) - rows, axis=1)
    assert np.all(exact <= clean)
    assert beta < 4 or np.all(clean < 0.01)

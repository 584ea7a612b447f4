"""Random features: unbiased kernels, adding and forgetting, and an error that is foretold and fails loudly."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import dynamics
from hopfield.networks.random_features import FeatureMemory, descend

RNG = np.random.default_rng(7)
N = 5
PATTERNS = RNG.normal(size=(6, N)) / N**0.5
X = PATTERNS[0] + 0.1 * RNG.normal(size=N)
KEY = jax.random.key(3)
MAPS = [("trigonometric", False), ("trigonometric", True), ("positive", False), ("positive", True)]

every_map = pytest.mark.parametrize(("kind", "orthogonal"), MAPS)


def exact(x, beta: float, patterns=PATTERNS) -> float:
    return float(np.sum(np.exp(-0.5 * beta * np.sum((patterns - x) ** 2, axis=1))))


@every_map
def test_the_sum_of_kernels_is_estimated_within_its_error(kind, orthogonal):
    memory = FeatureMemory(KEY, N, 8000, beta=1.5, kind=kind, orthogonal=orthogonal).add(PATTERNS)
    value, error = memory.kernel_sum(X)
    assert abs(float(value) - exact(X, 1.5)) < 4 * float(error)
    assert 0 < float(memory.predicted_error(X)) < 0.05
    assert float(memory.energy(X)) == pytest.approx(-np.log(exact(X, 1.5)) / 1.5, abs=0.1)


def test_the_error_falls_as_the_root_of_the_size():
    errors = [
        np.mean([FeatureMemory(jax.random.key(k), N, y).add(PATTERNS).predicted_error(X) for k in range(8)])
        for y in (64, 1024)
    ]
    assert np.log(errors[1] / errors[0]) / np.log(16) == pytest.approx(-0.5, abs=0.08)


@every_map
def test_forgetting_undoes_adding(kind, orthogonal):
    memory = FeatureMemory(KEY, N, 64, kind=kind, orthogonal=orthogonal).add(PATTERNS[:2])
    again = memory.add(PATTERNS[2:]).forget(PATTERNS[2:])
    np.testing.assert_allclose(again.total, memory.total, atol=1e-12)


def test_blocks_do_not_show():
    """More patterns than one block holds are the sum over them all."""
    many = RNG.normal(size=(300, N))
    memory = FeatureMemory(KEY, N, 32)
    np.testing.assert_allclose(memory.add(many).total, jax.vmap(memory.features)(jnp.asarray(many)).sum(0), rtol=1e-10)


def test_descent_ends_near_the_end_of_exact_kernels():
    beta = 3.0
    memory = FeatureMemory(KEY, N, 20_000, beta=beta).add(PATTERNS)
    end = descend(memory, jnp.asarray(X), max_steps=300)
    x = X
    for _ in range(300):
        weights = np.exp(-0.5 * beta * np.sum((PATTERNS - x) ** 2, axis=1))
        x = weights @ PATTERNS / weights.sum()
    assert end.status == dynamics.CONVERGED
    np.testing.assert_allclose(end.state, x, atol=0.1)


def test_an_energy_whose_features_have_vanished_is_not_a_number():
    memory = FeatureMemory(KEY, N, 100, kind="positive").add(100 * PATTERNS)
    assert memory.kernel_sum(100 * PATTERNS[0])[0] == 0
    assert jnp.isnan(memory.energy(100 * PATTERNS[0]))

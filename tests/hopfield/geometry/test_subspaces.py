"""Principal angles and distances of forms against scipy, dense matrices and closed forms, with finite gradients."""

import jax
import numpy as np
import pytest
from scipy.linalg import subspace_angles

from hopfield.geometry import (
    grassmann_distance,
    principal_angles,
    random_baseline,
)
from tests.hopfield.contracts.parts import quick

RNG = np.random.default_rng(7)


def at_angles(angles, n: int, seed: int = 0):
    """Two bases [n, r] at given principal angles, rotated at random in Rⁿ and mixed inside each space."""
    rng = np.random.default_rng(seed)
    r = len(angles)
    frame = np.linalg.qr(rng.normal(size=(n, n)))[0]
    first, normal = frame[:, :r], frame[:, r : 2 * r]
    second = first * np.cos(angles) + normal * np.sin(angles)
    mix = [rng.normal(size=(r, r)) + 3 * np.eye(r) for _ in range(2)]
    return first @ mix[0], second @ mix[1]


@pytest.mark.parametrize("shape", [(9, 3, 3), (8, 2, 5), (11, 5, 4), (40, 8, 8)])
def test_angles_are_those_of_scipy(shape):
    n, r, s = shape
    first, second = RNG.normal(size=(n, r)), RNG.normal(size=(n, s))
    expected = subspace_angles(first, second)[::-1]
    np.testing.assert_allclose(quick(principal_angles)(first, second), expected, atol=1e-13)


@pytest.mark.parametrize(
    "angles",
    [
        [0.0, 1e-12, 1e-9, 1e-5, 0.3],
        [0.2, 1.2, np.pi / 2 - 1e-9, np.pi / 2 - 1e-12, np.pi / 2],
        [0.0, 1e-9, 0.7, np.pi / 2 - 1e-9, np.pi / 2],
        [np.pi / 4] * 5,
    ],
    ids=["small", "large", "both", "equal"],
)
def test_angles_near_zero_and_near_a_right_angle_keep_their_digits(angles):
    first, second = at_angles(angles, 12)
    found = principal_angles(first, second)
    np.testing.assert_allclose(found, angles, atol=2e-14)
    # scipy pairs the mask of one order with the angles of the other: its cosine is all it has for some small angles
    np.testing.assert_allclose(found, subspace_angles(first, second)[::-1], atol=5e-8)


GRADIENT = jax.jit(jax.grad(grassmann_distance, argnums=(0, 1)))


@pytest.mark.parametrize(
    "angles",
    [[0.05, 0.6, 0.9, 1.5], [0.8, 0.8, 0.8, 1.2], [np.pi / 4] * 4, [0.1, 0.1, 1.4, 1.4]],
    ids=["distinct", "equal", "equal at the split", "pairs"],
)
def test_gradient_is_that_of_finite_differences_also_at_equal_angles(angles):
    """d² = Σ θ² is smooth where angles meet; the differences are of scipy's angles, which know nothing of our rule."""
    first, second = at_angles(angles, 10, seed=3)
    step = 1e-5
    direction = np.random.default_rng(1).normal(size=(2, *first.shape))

    def distance(t):
        return np.linalg.norm(subspace_angles(first + t * direction[0], second + t * direction[1]))

    slope = sum(np.sum(g * d) for g, d in zip(GRADIENT(first, second), direction, strict=True))
    np.testing.assert_allclose(slope, (distance(step) - distance(-step)) / (2 * step), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(("n", "mean"), [(2, 0.5), (3, 2 / np.pi)])
def test_random_lines_are_at_their_known_mean_angle(n, mean):
    """In the plane θ is uniform on [0, π/2], in space it has the density sin θ and mean 1; five standard errors."""
    found = random_baseline(jax.random.key(0), n, 1, samples=4000)
    np.testing.assert_allclose(found.mean, mean, atol=5 * float(found.deviation) / np.sqrt(4000))

"""Points off their manifold: refused where they are known, not numbers where they are traced."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.geometry import manifolds, spd, sphere
from hopfield.geometry.families import categorical, centered_normal, location_normal, normal, univariate_normal

V = jnp.array([0.1, -0.1])
OFF = {
    "sphere": (sphere, [0.9, 0.8], [0.6, 0.8], "be of norm 1"),
    "categorical_sum": (categorical, [0.5, 0.6], [0.3, 0.7], "be probabilities that add to 1"),
    "categorical_sign": (categorical, [1.5, -0.5], [0.3, 0.7], "be probabilities that add to 1"),
    "univariate_normal": (univariate_normal, [0.3, -1.0], [0.3, 1.0], "be .μ, σ. with a positive σ"),
    "univariate_normal_zero": (univariate_normal, [0.3, 0.0], [0.3, 1.0], "be .μ, σ. with a positive σ"),
}


def calls(space, on):
    """Functions of a base point, of one manifold."""
    yield "exp", lambda x: space.exp(V, x)
    yield "log", lambda x: space.log(on, x)
    yield "log", lambda x: space.log(x, on)
    yield "dist", lambda x: space.dist(x, on)
    yield "transport", lambda x: space.parallel_transport(V, x, V)
    if space is sphere:
        yield "tangent", lambda x: space.to_tangent(V, x)
        return
    yield "inner", lambda x: space.inner_product(V, V, x)
    yield "norm", lambda x: space.norm(V, x)
    yield "metric", space.metric_matrix


@pytest.mark.parametrize("name", OFF)
def test_points_off_a_manifold_are_refused_and_traced_ones_not_numbers(name):
    space, off, on, contract = OFF[name]
    off, on = jnp.array(off), jnp.array(on)
    for _, call in calls(space, on):
        with pytest.raises(ValueError, match=f" must {contract}"):
            call(off)
    found = jax.jit(lambda x: [jnp.ravel(call(x)) for _, call in calls(space, on)])(off)
    assert all(np.isnan(part).any() for part in found)


def _field(x):
    return jnp.eye(2) * jnp.exp(0.1 * jnp.sum(x * x))


PLANE, MATRIX, WEIGHTS = np.array([0.3, -0.2]), np.array([[0.3, 0.1], [0.1, -0.2]]), np.array([0.2, 0.3, 0.5])
NORMS = {
    "manifolds": lambda s: manifolds.norm(PLANE * s, np.array([0.1, 0.4], s.dtype), _field),
    "spd": lambda s: spd.norm(MATRIX * s, np.eye(2, dtype=s.dtype)),
    "categorical": lambda s: categorical.norm(np.array([0.1, 0.2, -0.3]) * s, WEIGHTS.astype(s.dtype)),
    "centered_normal": lambda s: centered_normal.norm(MATRIX * s, np.eye(2, dtype=s.dtype)),
    "location_normal": lambda s: location_normal.norm(PLANE * s, PLANE, np.eye(2, dtype=s.dtype)),
    "univariate_normal": lambda s: univariate_normal.norm(PLANE * s, np.array([0.3, 1.2], s.dtype)),
    "normal": lambda s: normal.norm((PLANE * s, MATRIX * s), (PLANE, np.eye(2, dtype=s.dtype))),
    "spreads": lambda s: s * univariate_normal.norm(PLANE * s, np.array([0.3, 1.2], s.dtype) * s),
    "covariances": lambda s: s * normal.norm((PLANE * s**0.5, MATRIX * s), (PLANE, np.eye(2, dtype=s.dtype) * s)),
}


@pytest.mark.parametrize("size", [1e-25, 1e25])
@pytest.mark.parametrize("name", NORMS)
def test_norms_are_proportional_to_vectors_of_any_size(name, size):
    """In single precision, where squares of such numbers vanish or overflow; of several matrices each by itself."""
    one, scaled = (NORMS[name](np.float32(x)) for x in (1.0, size))
    np.testing.assert_allclose(scaled / np.float32(size), one, rtol=1e-5)
    both = np.stack([MATRIX, MATRIX * size]).astype(np.float32)
    pair = spd.norm(both, np.stack([np.eye(2, dtype=np.float32)] * 2))
    np.testing.assert_allclose(pair / np.array([1.0, size], np.float32), [float(pair[0])] * 2, rtol=1e-5)

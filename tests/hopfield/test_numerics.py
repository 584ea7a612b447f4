import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield._numerics import accumulation_dtype, increasing_root, safe_norm, shrunk_median
from tests.hopfield.contracts.parts import quick

GRID = np.linspace(-4.0, 4.0, 160_001)


@pytest.mark.parametrize(
    ("given", "expected"),
    [("bfloat16", "float32"), ("float16", "float32"), ("float32", "float32"), ("float64", "float64")],
)
def test_sums_are_carried_in_at_least_float32(given, expected):
    assert accumulation_dtype(jnp.dtype(given)) == jnp.dtype(expected)


def test_norm_of_zero_has_a_finite_gradient():
    np.testing.assert_array_equal(jax.grad(safe_norm)(jnp.zeros(3)), 0.0)
    np.testing.assert_allclose(safe_norm(jnp.array([3.0, 4.0])), 5.0)
    np.testing.assert_allclose(safe_norm(jnp.ones((2, 4)), axis=1, keepdims=True), 2.0)
    np.testing.assert_allclose(jax.grad(safe_norm)(jnp.array([3.0, 4.0])), [0.6, 0.8])


def _shifted_cube(t, a):
    return t**3 + t - a


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64], ids=["float32", "float64"])
def test_root_of_a_cubic_to_the_last_bit(dtype):
    """t³ + t = 2 has the root 1, and t³ + t = 10 the root 2."""
    bracket = jnp.array([-3.0, -3.0], dtype), jnp.array([3.0, 3.0], dtype)
    root = increasing_root(_shifted_cube, *bracket, jnp.array([2.0, 10.0], dtype))
    assert root.dtype == dtype
    np.testing.assert_allclose(root, [1.0, 2.0], rtol=2 * float(jnp.finfo(dtype).eps))


def test_root_has_the_derivatives_of_the_implicit_function():
    """t' = 1/(3t² + 1) and t'' = −6 t t'²/(3t² + 1), at t = 1: 1/4 and −6/64."""

    def root(a):
        return increasing_root(_shifted_cube, jnp.float64(-3.0), jnp.float64(3.0), a)

    np.testing.assert_allclose(quick(jax.grad(root))(2.0), 0.25, rtol=1e-14)
    np.testing.assert_allclose(quick(jax.grad(jax.grad(root)))(2.0), -6 / 64, rtol=1e-13)
    np.testing.assert_allclose(quick(jax.jacfwd(jax.jacrev(root)))(2.0), -6 / 64, rtol=1e-13)


def test_root_of_a_flat_function_has_no_gradient_rather_than_nan():
    def root(a):
        return increasing_root(lambda t, a: jnp.where(t < 0, -1.0, 1.0) + 0.0 * a, jnp.float64(-1), jnp.float64(1), a)

    assert jax.grad(root)(1.0) == 0.0


@pytest.mark.parametrize("stiffness", [0.0, 0.3, 1.0, 20.0])
@pytest.mark.parametrize("seed", range(5))
def test_no_point_of_a_grid_is_below_the_weighted_median(stiffness, seed):
    rng = np.random.default_rng(seed)
    points, weights = rng.normal(size=7), rng.random(7)
    cost = lambda t: 0.5 * stiffness * t**2 + np.abs(t[:, None] - points) @ weights
    found = np.asarray(shrunk_median(jnp.asarray(points), jnp.asarray(weights), stiffness))
    assert cost(found[None])[0] <= np.min(cost(GRID)) + 1e-12

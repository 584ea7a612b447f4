"""Arguments of optimisers: what none of them can move is refused, and no size of a step turns it into another one."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from hopfield import optim

RNG = np.random.default_rng(0)
X, Y, W = (RNG.normal(size=shape).astype(np.float32) for shape in ((12, 3), (12, 2), (3, 2)))
NATURAL = {
    "natural": optim.natural_gradient,
    "kronecker": optim.kronecker_natural_gradient,
    "diagonal": optim.diagonal_fisher,
}
natural = pytest.mark.parametrize("make", NATURAL.values(), ids=NATURAL)


def model(params, x):
    return x @ params


def gradient(params):
    return jax.grad(lambda p: 0.5 * jnp.mean(jnp.sum((X @ p - Y) ** 2, axis=-1)))(params)


def step_from_zero(make, slope=None, dtype=jnp.float32, **options):
    """Step and state from zero: on the data, or along a penalty of which `slope` is the gradient alone."""
    if slope is not None:
        options["penalty"] = lambda w: jnp.sum(slope * w)
    optimiser, w = make(model, "gaussian", **options), jnp.zeros_like(W, dtype)
    return optimiser.step(w, optimiser.init(w), X.astype(dtype), (Y if slope is None else 0 * Y).astype(dtype))


def test_updates_that_would_be_broadcast_are_refused():
    optimiser = optim.riemannian_gradient_descent(0.1)
    with pytest.raises(
        ValueError, match=r"^updates must have the structure and shapes of params, \(3, 2\), got \(1, 2"
    ):
        optimiser.update(jnp.ones((1, 2)), optimiser.init(jnp.asarray(W)), jnp.asarray(W))


@natural
def test_a_step_whose_square_vanishes_is_still_the_step(make):
    found, state = step_from_zero(make, damping=1e30)
    np.testing.assert_allclose(found, -gradient(jnp.zeros_like(W)) / 1e30, rtol=1e-4)
    assert bool(state.finite)


@natural
def test_half_precision_keeps_its_type_and_comes_near(make):
    found, wide = (step_from_zero(make, damping=0.1, dtype=dtype)[0] for dtype in (jnp.bfloat16, jnp.float32))
    assert found.dtype == jnp.bfloat16
    np.testing.assert_allclose(found.astype(jnp.float32), wide, atol=0.05)


def test_masked_parameters_go_through_descent_on_manifolds():
    optimiser = optax.masked(optim.riemannian_gradient_descent(0.1, "oblique"), {"a": True, "b": False})
    params = {"a": jnp.eye(2), "b": jnp.ones(2)}
    found, _ = optimiser.update({"a": jnp.ones((2, 2)), "b": jnp.full(2, 3.0)}, optimiser.init(params), params)
    np.testing.assert_array_equal(found["b"], [3.0, 3.0])
    np.testing.assert_allclose(jnp.linalg.norm(params["a"] + found["a"], axis=1), 1.0, atol=1e-6)


@pytest.mark.parametrize("size", [1e-25, 1e25])
@pytest.mark.parametrize("solver", ["cg", "cholesky", "kernel"])
def test_the_direction_does_not_depend_on_the_size_of_the_gradient(solver, size):
    """At both sizes squares of single precision vanish or overflow."""
    slope = gradient(jnp.zeros_like(W))
    options = {"damping": 0.1, "solver": solver, "tolerance": 1e-6}
    usual, _ = step_from_zero(optim.natural_gradient, slope, **options)
    found, state = step_from_zero(optim.natural_gradient, size * slope, **options)
    np.testing.assert_allclose(np.asarray(found, float) / size, usual, rtol=1e-3, atol=1e-4)
    assert bool(state.finite)


def test_the_trust_radius_bounds_a_huge_step_and_does_not_stop_it():
    slope = 1e25 * gradient(jnp.zeros_like(W))
    found, _ = step_from_zero(optim.natural_gradient, slope, damping=0.1, trust_radius=0.1)
    length = np.sqrt(np.mean(np.sum((X @ np.asarray(found)) ** 2, axis=-1)))
    assert length == pytest.approx(0.1, rel=1e-3)

"""Arguments of optimisers: what none of them can move is refused, and no size of a step turns it into another one."""

import jax
import jax.numpy as jnp
import numpy as np
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
    """Step and state from zero: on the data, or along a penalty with the gradient `slope` alone."""
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


def test_the_trust_radius_bounds_a_huge_step_and_does_not_stop_it():
    slope = 1e25 * gradient(jnp.zeros_like(W))
    found, _ = step_from_zero(optim.natural_gradient, slope, damping=0.1, trust_radius=0.1)
    length = np.sqrt(np.mean(np.sum((X @ np.asarray(found)) ** 2, axis=-1)))
    assert length == pytest.approx(0.1, rel=1e-3)

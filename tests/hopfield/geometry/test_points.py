"""Points off their manifold: refused where they are known, not numbers where they are traced."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.geometry import sphere
from hopfield.geometry.families import categorical, univariate_normal

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

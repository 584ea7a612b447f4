"""A soft cap holds scores between its bounds, keeps their order and leaves small ones as they are."""

import jax
import jax.numpy as jnp
import numpy as np

from hopfield.attention import SoftCap


def test_a_cap_is_odd_rises_and_has_slope_one_at_zero():
    scores = jnp.linspace(-50.0, 50.0, 101)
    bent = SoftCap(5.0)(scores)
    assert (jnp.diff(bent) >= 0).all()
    assert (jnp.abs(bent) <= 5.0).all()
    np.testing.assert_allclose(bent, -bent[::-1], atol=1e-6)
    np.testing.assert_allclose(jax.grad(SoftCap(5.0))(0.0), 1.0)
    np.testing.assert_allclose(SoftCap(1e6)(scores), scores, rtol=1e-6)

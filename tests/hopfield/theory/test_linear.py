"""Theory of fast weights against drawn keys, and the limits in which it is known without any computation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from hopfield.attention import FastWeights
from hopfield.theory import linear


@pytest.mark.parametrize(("rule", "pairs"), [("outer", 40), ("pseudo_inverse", 40), ("delta", 40)])
def test_share_of_keys_found_is_that_of_theory(rule, pairs):
    """D = 16, 40 pairs, 1000 draws: the outer product within four standard errors, other rules within 0.03."""

    @jax.jit
    @jax.vmap
    def share(draw):
        key, value = (x / jnp.linalg.norm(x, axis=-1, keepdims=True) for x in jax.random.normal(draw, (2, pairs, 16)))
        _, memory = FastWeights(16, 16, rule).attend(key, key, value, chunk=pairs)
        return jnp.mean(jnp.argmax(key @ memory.matrix @ value.T, axis=1) == jnp.arange(pairs))

    found = np.asarray(share(jax.random.split(jax.random.key(3), 1000)))
    error = found.std() / 1000**0.5
    assert abs(found.mean() - linear.key_found(16, pairs, rule)) < (4 * error if rule == "outer" else 0.03)


@pytest.mark.parametrize(("width", "pairs", "draws"), [(16, 12, 6000), (32, 55, 1500), (64, 190, 150)])
def test_the_outer_product_is_found_within_its_order(width, pairs, draws):
    """Drawn in numpy: within 2.7/D² and three standard errors, which 1/D at D = 64 is far beyond."""
    rng, shares = np.random.default_rng(0), []
    for _ in range(draws):
        key, value = (x / np.linalg.norm(x, axis=-1, keepdims=True) for x in rng.normal(size=(2, pairs, width)))
        shares.append(np.mean(np.argmax(key @ (key.T @ value) @ value.T, axis=1) == np.arange(pairs)))
    error = 3 * np.std(shares) / draws**0.5
    assert abs(np.mean(shares) - linear.key_found(width, pairs)) < 2.7 / width**2 + error


@pytest.mark.parametrize("width", [3, 16, 1024, 100_000])
def test_tails_on_a_sphere_of_any_dimension_are_those_of_the_beta_law(width):
    """The coordinate u of a unit vector: (1 + u)/2 is distributed as Beta((V−1)/2, (V−1)/2)."""
    score = np.array([-0.5, 0.3, 1.0, 2.5, 4.0]) / width**0.5
    score = score[score < 1]
    found = linear._beyond(score, np.zeros(len(score)), np.zeros(len(score)), width)
    np.testing.assert_allclose(found, scipy.stats.beta.sf((1 + score) / 2, (width - 1) / 2, (width - 1) / 2), rtol=1e-6)


def test_pairs_at_capacity_grow_as_the_square_of_the_width_over_its_logarithm():
    """n ln n / D² tends to ½; at D = 32 … 256 it rises from 0.5 to 0.6."""
    found = [n * np.log(n) / d**2 for d in (32, 256) for n in [linear.capacity(d)]]
    assert 0.5 < found[0] < found[1] < 0.62

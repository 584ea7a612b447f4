"""Attention over a window and over mixtures of keys: against dense attention."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import metrics
from hopfield.attention import core, fewer_keys, masks

RNG = np.random.default_rng(23)


def normal(*shape):
    return jnp.asarray(RNG.normal(size=shape))


def drawn(*leading, t=7, s=7):
    return normal(*leading, t, 4), normal(*leading, s, 4), normal(*leading, s, 3)


@pytest.mark.parametrize(
    ("lengths", "reach"),
    [((40, 40), (2, 5)), ((40, 40), (0, 0)), ((5, 37), (50, 50)), ((37, 5), (1, 20))],
)
def test_local_attention_is_dense_attention_with_a_window(lengths, reach):
    query, key, value = normal(2, 3, lengths[0], 4), normal(3, lengths[1], 4), normal(3, lengths[1], 3)
    beta = jnp.asarray([0.3, 1.0, 2.0])
    local = jax.jit(lambda q, k, v: fewer_keys.attend_locally(q, k, v, left=reach[0], right=reach[1], beta=beta))
    found = local(query, key, value)
    dense = jax.jit(core.attend)(query, key, value, beta=beta, mask=masks.sliding_window(*reach))
    np.testing.assert_allclose(found, dense, atol=1e-14)


def test_low_rank_attention_is_attention_over_mixed_keys():
    query, key, value = drawn(2, s=9)
    w_key, w_value = normal(3, 9), normal(3, 9)
    found = fewer_keys.attend_low_rank(query, key, value, w_key, w_value)
    expected = core.attend(query, jnp.einsum("rs,bsd->brd", w_key, key), jnp.einsum("rs,bsv->brv", w_value, value))
    np.testing.assert_allclose(found, expected, atol=1e-14)
    exact = fewer_keys.attend_low_rank(query, key, value, jnp.eye(9))
    np.testing.assert_allclose(exact, core.attend(query, key, value), atol=1e-14)


def test_truncated_attention_is_the_best_approximation_of_its_rank():
    """Eckart & Young: the squared error of the weights is the sum of the squared singular values that are left out."""
    query, key, _ = drawn(2, t=5, s=7)
    bias, mask = normal(2, 5, 7), masks.sliding_window(3, 3)
    given = {"metric": metrics.LowRank(normal(2, 4)), "bias": bias, "mask": mask, "temperature": 0.5}
    whole = core.decompose(query, key, jnp.eye(7), **given).weights
    sizes = np.linalg.svd(whole, compute_uv=False)
    for rank in (1, 3, 5):
        found = fewer_keys.attend_truncated(query, key, jnp.eye(7), rank=rank, **given)
        assert np.linalg.matrix_rank(found, tol=1e-10).tolist() == [rank, rank]
        left = np.sum((whole - found) ** 2, axis=(-2, -1))
        np.testing.assert_allclose(left, np.sum(sizes[:, rank:] ** 2, axis=-1), atol=1e-14)

"""Metrics and bilinear forms: every parametrisation is its dense matrix, and geometry agrees with closed forms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import metrics
from hopfield.metrics import CONTRACTIONS
from tests.hopfield.contracts.parts import quick

RNG = np.random.default_rng(7)


def normal(*shape):
    return jnp.asarray(RNG.normal(size=shape))


METRICS = {
    "identity": metrics.Euclidean(4),
    "scaled": metrics.Scaled(4),
    "diagonal": metrics.Diagonal(normal(4)),
    "full": metrics.Full(normal(4, 5)),
    "low_rank": metrics.LowRank(normal(2, 4)),
    "projected": metrics.Projected(normal(4, 3), normal(5, 3)),
    "biased": metrics.Projected(normal(4, 3), normal(5, 3), normal(3), normal(3)),
    "half_biased": metrics.Projected(normal(4, 3), normal(5, 3), None, normal(3)),
    "block": metrics.BlockDiagonal(metrics.Scaled(1, 2.0), metrics.Full(normal(1, 2)), metrics.LowRank(normal(1, 2))),
}
PER_HEAD = {
    "scaled": metrics.Scaled(4, jnp.asarray([0.5, 1.0, 2.0])),
    "diagonal": metrics.Diagonal(normal(3, 4)),
    "full": metrics.Full(normal(3, 4, 5)),
    "low_rank": metrics.LowRank(normal(3, 2, 4)),
    "biased": metrics.Projected(normal(3, 4, 2), normal(5, 2), normal(3, 2), normal(2)),
    "block": metrics.BlockDiagonal(metrics.Euclidean(2), metrics.Diagonal(normal(3, 2))),
}
REGULAR = {
    "identity": metrics.Euclidean(3),
    "scaled": metrics.Scaled(3, 0.2),
    "diagonal": metrics.Diagonal(jnp.asarray([1.0, -2.0, 4.0])),
    "full": metrics.Full(normal(3, 3)),
    "low_rank": metrics.LowRank(normal(5, 3)),
    "block": metrics.BlockDiagonal(metrics.Scaled(1, 3.0), metrics.Full(normal(2, 2))),
}


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_is_its_dense_matrix(name):
    g = METRICS[name]
    x, y = normal(3, g.widths[0]), normal(6, g.widths[1])
    rows = [metrics.augmented(z) if g.affine else z for z in (x, y)]
    np.testing.assert_allclose(g.form(x, y), rows[0] @ g.dense() @ rows[1].T, atol=1e-13)
    assert g.left(x).shape[-1] == g.right(y).shape[-1]
    if g.symmetric:
        np.testing.assert_allclose(g.dense(), g.dense().T, atol=1e-14)
    if g.positive:
        assert np.linalg.eigvalsh(g.dense()).min() > -1e-13


@pytest.mark.parametrize("name", PER_HEAD)
def test_each_head_has_its_own_metric_whatever_the_batch(name):
    g = PER_HEAD[name]
    x, y = normal(2, 3, 5, g.widths[0]), normal(2, 3, 6, g.widths[1])
    found = g.form(x, y)
    shared = g.form(x[0, 0], y[0, 0])  # one set of rows under every head's metric
    assert found.shape == (2, 3, 5, 6)
    assert shared.shape == (3, 5, 6)
    dense = jnp.broadcast_to(g.dense(), (3, *g.dense().shape[-2:]))
    x, y = (metrics.augmented(z) if g.affine else z for z in (x, y))
    np.testing.assert_allclose(found, np.einsum("nhia,hab,nhjb->nhij", x, dense, y), atol=1e-13)
    np.testing.assert_allclose(shared, np.einsum("ia,hab,jb->hij", x[0, 0], dense, y[0, 0]), atol=1e-13)


def test_projections_with_biases_are_the_augmented_form():
    """[[W_q W_kᵀ, W_q b_k], [b_q W_kᵀ, b_q·b_k]]."""
    g = METRICS["biased"]
    dense = np.block(
        [
            [g.w_query @ g.w_key.T, (g.w_query @ g.b_key)[:, None]],
            [(g.w_key @ g.b_query)[None, :], np.array([[g.b_query @ g.b_key]])],
        ]
    )
    np.testing.assert_allclose(g.dense(), dense, atol=1e-14)


def test_scaled_by_default_is_scaled_dot_product_attention():
    np.testing.assert_allclose(metrics.Scaled(16).dense(), np.eye(16) / 4, rtol=1e-7)


@pytest.mark.parametrize("name", REGULAR)
def test_inverse_raises_what_the_metric_lowers(name):
    g = REGULAR[name]
    np.testing.assert_allclose(metrics.inverse(g).dense() @ g.dense(), np.eye(3), atol=1e-12)
    tensor = normal(2, 3, 4)
    lowered = metrics.lower(tensor, g, index=1)
    np.testing.assert_allclose(lowered, np.einsum("ab,xby->xay", g.dense(), tensor), atol=1e-13)
    np.testing.assert_allclose(metrics.raise_index(lowered, g, index=1), tensor, atol=1e-12)


def test_lengths_angles_and_volumes_in_a_stretched_plane():
    """g = diag(4, 9): ‖(1, 0)‖ = 2, ‖(0, 1)‖ = 3, and (3, 2), (3, −2) have g-product 36 − 36 = 0."""
    g, u, v = np.diag([4.0, 9.0]), np.array([3.0, 2.0]), np.array([3.0, -2.0])
    of_two = [quick(verb)(u, v, g) for verb in (metrics.inner, metrics.distance, metrics.angle)]
    np.testing.assert_allclose(of_two, [0, 12, np.pi / 2], rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(quick(metrics.norm)(np.eye(2), g), [2, 3], rtol=1e-14)
    of_one = [quick(verb)(g) for verb in (metrics.volume_element, metrics.condition_number)]
    np.testing.assert_allclose(of_one, [6, 9 / 4], rtol=1e-14)
    assert quick(jax.grad(metrics.norm))(np.zeros(2), g).tolist() == [0, 0]


def test_symmetry_and_definiteness_are_recognised():
    g = normal(3, 3)
    both = metrics.symmetric_part(g).matrix, metrics.antisymmetric_part(g).matrix
    np.testing.assert_allclose(both[0] + both[1], g, atol=1e-15)
    np.testing.assert_allclose([both[0] - both[0].T, both[1] + both[1].T], 0, atol=1e-16)
    x = normal(3)
    assert metrics.inner(x, x, both[1]) == pytest.approx(0, abs=1e-14)
    assert metrics.is_symmetric(both[0])
    assert not metrics.is_symmetric(g)
    assert metrics.is_positive_definite(REGULAR["low_rank"])
    assert not metrics.is_positive_definite(g)
    assert not metrics.is_positive_definite(METRICS["low_rank"])  # semi-definite only: rank 2 of 4
    assert not metrics.is_positive_definite(REGULAR["diagonal"])
    assert metrics.condition_number(METRICS["low_rank"]) == np.inf
    assert metrics.volume_element(METRICS["low_rank"]) == 0.0
    single = metrics.Projected(*RNG.normal(size=(2, 4, 2)).astype(np.float32))
    assert metrics.condition_number(single) == np.inf
    assert metrics.volume_element(single) == 0.0


def test_named_contractions_are_what_they_say():
    q, k, v, g = normal(2, 4), normal(3, 4), normal(3, 2), normal(4, 4)
    np.testing.assert_allclose(CONTRACTIONS["scores"](q, k), q @ k.T, atol=1e-14)
    np.testing.assert_allclose(CONTRACTIONS["metric_scores"](q, g, k), q @ g @ k.T, atol=1e-14)
    np.testing.assert_allclose(CONTRACTIONS["read"](q @ k.T, v), q @ k.T @ v, atol=1e-13)
    np.testing.assert_allclose(CONTRACTIONS["trace"](g), np.trace(g), atol=1e-14)
    w, w_out = normal(5, 4, 2), normal(5, 2, 4)
    heads = CONTRACTIONS["project_heads"](q, w)
    np.testing.assert_allclose(heads[3], q @ w[3], atol=1e-14)
    np.testing.assert_allclose(CONTRACTIONS["combine_heads"](heads, w_out), (heads @ w_out).sum(0), atol=1e-13)
    for name, contraction in CONTRACTIONS.items():
        sizes = dict(zip("abcdhijkn", range(2, 11), strict=True))
        groups, output = contraction.formula.split("->")
        found = contraction(*(normal(*map(sizes.get, group)) for group in groups.split(",")))
        assert found.shape == tuple(map(sizes.get, output)), name


def test_eigenvalues_and_rank_are_those_of_the_matrix():
    """½(g + gᵀ) of [[2, 2], [0, 2]] is [[2, 1], [1, 2]], with eigenvalues 1 and 3."""
    np.testing.assert_allclose(metrics.eigenvalues(jnp.array([[2.0, 2.0], [0.0, 2.0]])), [1.0, 3.0], rtol=1e-6)
    factor = np.random.default_rng(0).normal(size=(3, 2, 5))
    np.testing.assert_array_equal(metrics.rank(metrics.LowRank(jnp.asarray(factor))), [2, 2, 2])
    assert metrics.rank(metrics.Euclidean(4)) == 4


def test_a_block_of_parts_that_are_not_square_has_all_its_singular_values():
    g = metrics.BlockDiagonal(metrics.Full(normal(1, 2)), metrics.Full(normal(2, 1)))
    expected = np.linalg.svd(g.dense(), compute_uv=False)
    assert expected[-1] < 1e-12
    assert metrics.condition_number(g) == np.inf
    assert metrics.rank(g) == 2

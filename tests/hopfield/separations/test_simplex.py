"""Sparse maps against an independent optimiser, against closed forms, and against the literature's own algorithms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.optimize

from hopfield.separations import simplex
from tests.hopfield.contracts.parts import quick, slopes

RNG = np.random.default_rng(8)
SCORES = RNG.normal(size=(6, 5)) * np.array([0.2, 0.5, 1.0, 1.5, 2.0, 4.0])[:, None]

sparsemax = quick(jax.vmap(simplex.sparsemax))
entmax = quick(jax.vmap(simplex.entmax, (0, None)))
normmax = quick(jax.vmap(simplex.normmax, (0, None)))


def tsallis(p, alpha):
    """Tsallis' entropy as its definition reads, Shannon's at α = 1."""
    if alpha == 1:
        return -np.sum(p * np.log(p, where=p > 0, out=np.zeros_like(p)))
    return (np.sum(p) - np.sum(p**alpha)) / (alpha * (alpha - 1))


def maximum_on_simplex(z, regulariser):
    """max over the simplex of p·z + regulariser(p), by sequential quadratic programming [M], float."""
    end = scipy.optimize.minimize(
        lambda p: -(p @ z + regulariser(np.maximum(p, 0))),
        np.full(z.size, 1 / z.size),
        method="SLSQP",
        bounds=[(0, 1)] * z.size,
        constraints={"type": "eq", "fun": lambda p: np.sum(p) - 1, "jac": np.ones_like},
        options={"ftol": 1e-15, "maxiter": 500},
    )
    return end.x, -end.fun


def assert_maximises(p, value, z, regulariser):
    """p is on the simplex, attains `value`, and no optimiser finds better."""
    best, height = maximum_on_simplex(z, regulariser)
    assert np.all(p >= 0)
    np.testing.assert_allclose(np.sum(p), 1.0, rtol=1e-12)
    np.testing.assert_allclose(p @ z + regulariser(p), value, rtol=1e-12)
    np.testing.assert_allclose(value, height, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(p, best, atol=2e-4)


def test_sparsemax_is_the_projection_on_the_simplex():
    for z, p in zip(SCORES, np.asarray(sparsemax(SCORES)), strict=True):
        assert_maximises(p, p @ z + tsallis(p, 2), z, lambda q: tsallis(q, 2))


def test_sparsemax_in_closed_form():
    """Two scores: p = (1 + z₁ − z₂)/2 clipped to [0, 1] (Martins & Astudillo 2016, eq. 5)."""
    gaps = np.array([-2.0, -0.6, 0.0, 0.25, 1.0, 3.0])
    z = np.stack([gaps, np.zeros_like(gaps)], axis=1)
    np.testing.assert_allclose(sparsemax(z)[:, 0], np.clip((1 + gaps) / 2, 0, 1), atol=1e-15)


@pytest.mark.parametrize("alpha", [1.1, 1.3, 1.5, 1.8, 2.0, 2.5, 3.0])
def test_entmax_maximises_score_plus_tsallis_entropy(alpha):
    for z, p in zip(SCORES, np.asarray(entmax(SCORES, alpha)), strict=True):
        assert_maximises(p, p @ z + tsallis(p, alpha), z, lambda q: tsallis(q, alpha))


@pytest.mark.parametrize("alpha", [1.3, 2.0, 5.0])
def test_normmax_maximises_score_minus_norm(alpha):
    weights, height = (np.asarray(a) for a in normmax(SCORES, alpha))
    for z, p, value in zip(SCORES, weights, height, strict=True):
        assert_maximises(p, value, z, lambda q: 1 - np.sum(q**alpha) ** (1 / alpha))


def entmax15_by_sorting(z):
    """Exact 1.5-entmax as Peters, Niculae & Martins 2019, algorithm 2, have it."""
    x = np.sort(z / 2)[::-1]
    for k in range(1, x.size + 1):
        mean, spread = np.mean(x[:k]), np.sum((x[:k] - np.mean(x[:k])) ** 2)
        if spread > 1:
            break
        tau = mean - np.sqrt((1 - spread) / k)
        if k == x.size or x[k] <= tau:
            break
    return np.maximum(z / 2 - tau, 0) ** 2


def test_bisection_gives_what_sorting_gives():
    expected = np.array([entmax15_by_sorting(z) for z in SCORES])
    np.testing.assert_allclose(entmax(SCORES, 1.5), expected, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(entmax(SCORES, 2.0), sparsemax(SCORES), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("alpha", [1.01, 1.0001, 1.000001])
def test_entmax_keeps_its_digits_and_its_slope_in_alpha_as_alpha_comes_near_one(alpha):
    """In float32, against bisection for λ in float64 of Σ [1 + (α−1)(s − λ)]^(1/(α−1)) = 1."""
    z, alpha = np.float32([0.3, 1.7, -0.4, 0.9]), np.float32(alpha)

    def exact(gap):
        low, high = 0.0, np.log(z.size)
        for _ in range(60):
            p = np.exp(np.log1p(gap * (z.astype(float) - np.float64(z.max()) - (low + high) / 2)) / gap)
            low, high = ((low + high) / 2, high) if p.sum() > 1 else (low, (low + high) / 2)
        return p

    gap, step = float(alpha) - 1, 0.1 * (float(alpha) - 1)
    found, slope = quick(lambda z, a: jax.jvp(simplex.entmax, (z, a), (0 * z, jnp.ones_like(a))))(z, alpha)
    np.testing.assert_allclose(found, exact(gap), rtol=2e-6)
    np.testing.assert_allclose(slope, (exact(gap + step) - exact(gap - step)) / (2 * step), rtol=2e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("one", "alpha"),
    [
        (simplex.entmax, 1.4),
        (simplex.entmax, 1.5),
        (simplex.entmax, 2.5),
        (lambda z, alpha: simplex.normmax(z, alpha)[0], 1.7),
        (lambda z, alpha: simplex.normmax(z, alpha)[1], 2.5),
    ],
    ids=["entmax", "entmax in closed form", "steep entmax", "normmax", "its maximum"],
)
def test_derivatives_in_scores_and_alpha_are_exact(one, alpha):
    """First and second derivatives, forward and reverse, against central differences of the order below."""
    point = jnp.append(SCORES[2], alpha)

    def joint(x):
        return one(x[:-1], x[-1])

    first = quick(jax.jacfwd(joint))(point)
    np.testing.assert_allclose(quick(jax.jacrev(joint))(point), first, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(first, slopes(joint, point), rtol=1e-6, atol=1e-8)
    second = quick(jax.jacfwd(jax.jacrev(joint)))(point)
    np.testing.assert_allclose(second, slopes(jax.jacfwd(joint), point), rtol=1e-6, atol=1e-7)


def test_tsallis_entropy_has_its_known_values():
    """α = 2: ½(1 − Σp²); uniform over four: (1 − 4^(1−α))/(α(α−1)); α → 1: Shannon's ln 4."""
    p = jnp.array([0.5, 0.3, 0.2, 0.0])
    uniform = jnp.full(4, 0.25)
    np.testing.assert_allclose(simplex.tsallis_entropy(p, 2.0), 0.5 * (1 - 0.38), rtol=1e-14)
    np.testing.assert_allclose(simplex.tsallis_entropy(uniform, 1.5), (1 - 4**-0.5) / 0.75, rtol=1e-14)
    np.testing.assert_allclose(simplex.tsallis_entropy(uniform, 1 + 1e-7), np.log(4), rtol=1e-6)

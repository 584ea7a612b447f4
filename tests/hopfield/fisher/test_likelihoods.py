"""Fisher information of outputs: E[s sᵀ] = −E[∇² log p] = L Lᵀ for every family, expectations as sums over targets."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from hopfield.fisher import Bernoulli, Categorical, Gaussian, MeanVariance, Poisson

OUTPUTS = jnp.array([0.3, -1.2, 0.8])
PAIRS = jnp.array([0.3, -1.2, 0.8, -0.4])
"""Two means and two log-variances."""
NODES, QUADRATURE = np.polynomial.hermite_e.hermegauss(24)


def expectations(name):
    """Targets and their probabilities at OUTPUTS, exhaustively, by quadrature, or far into the tail."""
    if name == "categorical":
        return np.arange(3), np.asarray(jax.nn.softmax(OUTPUTS))
    if name == "mean_variance":
        grid = np.stack(np.meshgrid(NODES, NODES, indexing="ij"), -1).reshape(-1, 2)
        weight = np.outer(QUADRATURE, QUADRATURE).ravel()
        return np.asarray(PAIRS[:2]) + np.exp(0.5 * np.asarray(PAIRS[2:])) * grid, weight / weight.sum()
    if name == "gaussian":
        grid = np.stack(np.meshgrid(NODES, NODES, NODES, indexing="ij"), -1).reshape(-1, 3)
        weight = np.stack(np.meshgrid(QUADRATURE, QUADRATURE, QUADRATURE, indexing="ij"), -1).prod(-1).ravel()
        return np.asarray(OUTPUTS) + np.sqrt(0.7) * grid, weight / weight.sum()
    top = 2 if name == "bernoulli" else 40
    mean = np.asarray(jax.nn.sigmoid(OUTPUTS) if name == "bernoulli" else jnp.exp(OUTPUTS))
    law = stats.bernoulli(mean) if name == "bernoulli" else stats.poisson(mean)
    single = law.pmf(np.arange(top)[:, None])
    count = np.stack(np.meshgrid(*[np.arange(top)] * 3, indexing="ij"), -1).reshape(-1, 3)
    return count.astype(float), np.prod(single[count, np.arange(3)], axis=1)


FAMILIES = {"categorical": Categorical(), "bernoulli": Bernoulli(), "gaussian": Gaussian(0.7), "poisson": Poisson()}
FAMILIES |= {"mean_variance": MeanVariance()}
AT = {name: PAIRS if name == "mean_variance" else OUTPUTS for name in FAMILIES}


@pytest.mark.parametrize("name", FAMILIES)
def test_three_routes_to_the_fisher_information_agree(name):
    family, at = FAMILIES[name], AT[name]
    targets, probability = expectations(name)
    assert probability.sum() == pytest.approx(1, abs=1e-13)
    targets = jnp.asarray(targets)

    @jax.jit
    def routes(targets):
        log_probability = lambda x, t: family.log_probability(x, t)
        derivatives = [d(log_probability) for d in (jax.grad, jax.hessian)]
        score, hessian = (jax.vmap(lambda t, d=d: d(at, t))(targets) for d in derivatives)
        product = jax.vmap(lambda v: family.fisher_product(at, v))(jnp.eye(len(at)))
        return score, hessian, product, jax.vmap(lambda t: family.score(at, t))(targets)

    score, hessian, product, closed = routes(targets)
    outer = np.einsum("n,ni,nj->ij", probability, score, score)
    np.testing.assert_allclose(outer, -np.einsum("n,nij->ij", probability, hessian), atol=1e-12)
    factor = family.fisher_factor(at)
    np.testing.assert_allclose(factor @ factor.T, outer, atol=1e-12)
    np.testing.assert_allclose(product, outer, atol=1e-12)
    np.testing.assert_allclose(closed, score, atol=1e-12)
    expected = probability if name == "categorical" else probability @ np.asarray(targets)
    np.testing.assert_allclose(family.mean(at), expected, atol=1e-12)


@pytest.mark.parametrize("name", FAMILIES)
def test_samples_have_the_mean_of_the_model_and_axes_are_batched(name):
    family, at = FAMILIES[name], AT[name]
    outputs = jnp.broadcast_to(at, (40_000, len(at)))
    drawn = family.sample(jax.random.key(0), outputs)
    values = np.asarray(jax.nn.one_hot(drawn, 3) if name == "categorical" else drawn)
    error = 4.5 * values.std(0) / np.sqrt(len(values))
    assert np.all(np.abs(values.mean(0) - np.asarray(family.mean(at))) < error)
    assert family.log_probability(outputs[:6].reshape(2, 3, -1), drawn[:6].reshape(2, 3, *drawn.shape[1:])).shape == (
        2,
        3,
    )
    assert family.fisher_factor(outputs[:6].reshape(2, 3, -1)).shape[:3] == (2, 3, len(at))


def test_probabilities_are_those_of_scipy():
    x = np.asarray(OUTPUTS)
    t = np.array([2.0, 0.0, 5.0])
    found = Gaussian(0.7).log_probability(OUTPUTS, jnp.asarray(t))
    np.testing.assert_allclose(found, stats.norm(x, np.sqrt(0.7)).logpdf(t).sum(), rtol=1e-13)
    np.testing.assert_allclose(
        Poisson().log_probability(OUTPUTS, jnp.asarray(t)), stats.poisson(np.exp(x)).logpmf(t).sum()
    )
    pairs = stats.norm(np.asarray(PAIRS[:2]), np.exp(0.5 * np.asarray(PAIRS[2:]))).logpdf(t[:2]).sum()
    np.testing.assert_allclose(MeanVariance().log_probability(PAIRS, jnp.asarray(t[:2])), pairs, rtol=1e-13)
    with pytest.raises(ValueError, match="outputs must be means and as many log-variances, got 3 numbers"):
        MeanVariance().check(OUTPUTS, t)

"""Each separation against its closed form, and against the ties, overflows and cancellations it promises to survive."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special

from hopfield import Memory, large, patterns, separations
from hopfield.patterns import sources
from hopfield.separations import (
    Entmax,
    Exponential,
    Linear,
    LogReLU,
    LogSumExp,
    Polynomial,
    Separation,
    Sparsemax,
    TopK,
)
from hopfield.separations.streams import log_weight, summand
from tests.hopfield.contracts.parts import has_jacobian_by_hand, quick

RNG = np.random.default_rng(4)
Z = RNG.normal(size=(9, 6)) * 1.5


def both(separation, z):
    """F and weights of a batch of scores."""
    return [np.asarray(a) for a in quick(jax.vmap(lambda s: (separation.potential(s), separation.weights(s))))(z)]


CLOSED_FORMS = {
    "linear": (Linear(), lambda z: 0.5 * np.sum(z**2), lambda z: z),
    "cubic": (Polynomial(3), lambda z: np.sum(z**3) / 3, lambda z: z**2),
    "quintic rectified": (
        Polynomial(5, rectified=True),
        lambda z: np.sum(z[z > 0] ** 5) / 5,
        lambda z: np.where(z > 0, z**4, 0),
    ),
    "exponential": (Exponential(), lambda z: np.sum(np.exp(z)), np.exp),
    "log-sum-exp": (LogSumExp(), scipy.special.logsumexp, scipy.special.softmax),
    "log-relu": (
        LogReLU(),
        lambda z: np.log(np.sum((1 + z)[z > -1])),
        lambda z: (z > -1) / np.sum((1 + z)[z > -1]),
    ),
}


@pytest.mark.parametrize(("separation", "potential", "weights"), CLOSED_FORMS.values(), ids=CLOSED_FORMS)
def test_potential_and_weights_in_closed_form(separation, potential, weights):
    found = both(separation, Z)
    np.testing.assert_allclose(found[0], [potential(z) for z in Z], rtol=1e-13)
    np.testing.assert_allclose(found[1], [weights(z) for z in Z], rtol=1e-12)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_top_k_is_the_largest_log_sum_exp_over_sets_of_k(count):
    sets = [list(s) for s in itertools.combinations(range(6), count)]
    potential, weights = both(TopK(count), Z)
    np.testing.assert_allclose(potential, [max(scipy.special.logsumexp(z[s]) for s in sets) for z in Z], rtol=1e-13)
    for z, p in zip(Z, weights, strict=True):
        largest = np.argsort(-z)[:count]
        np.testing.assert_allclose(p[largest], scipy.special.softmax(z[largest]), rtol=1e-12)
        assert np.count_nonzero(p) == count


def test_named_special_cases_agree():
    """Degree 2 is the classical network, 2-entmax sparsemax; Entmax at α → 1 is softmax, with F its log-sum-exp."""
    for one, other, rtol in (
        (Polynomial(2), Linear(), 1e-15),
        (Entmax(2.0), Sparsemax(), 1e-12),
        (Entmax(1 + 1e-5), LogSumExp(), 1e-3),
    ):
        for got, expected in zip(both(one, Z), both(other, Z), strict=True):
            np.testing.assert_allclose(got, expected, rtol=rtol, atol=1e-15)


def test_shares_of_a_power_are_powers_and_its_weights_the_slope_of_its_potential():
    power, z = separations.RectifiedPower(3.5), jnp.array([2.0, 1.0, -1.0, 0.5])
    expected = np.maximum(z, 0.0) ** 2.5
    np.testing.assert_allclose(power.shares(z), expected / expected.sum(), rtol=1e-12)
    np.testing.assert_allclose(jax.grad(power.potential)(z), power.weights(z), rtol=1e-12)
    assert jnp.isfinite(jax.grad(lambda n: power.replace(degree=n).shares(z)[1])(jnp.asarray(3.5)))


def test_a_separation_needs_only_a_potential_and_its_gradient():
    """One file of a user's: everything else has a default that is derived from the two."""

    class Cosh(Separation):
        def potential(self, z, mask=None):
            return jnp.sum(jnp.cosh(z)) if mask is None else jnp.sum(jnp.where(mask, jnp.cosh(z), 0.0))

        def weights(self, z, mask=None):
            return jnp.sinh(z) if mask is None else jnp.where(mask, jnp.sinh(z), 0.0)

    a, b = jnp.asarray(Z[0]), jnp.asarray(Z[1])
    np.testing.assert_allclose(
        Cosh().potential_difference(a, b, 2.0), np.sum(np.cosh(2 * a) - np.cosh(2 * b)) / 2, rtol=1e-12
    )
    np.testing.assert_allclose(Cosh().shares(a), np.abs(np.sinh(a)) / np.sum(np.abs(np.sinh(a))), rtol=1e-12)
    with pytest.raises(ValueError, match="in blocks, got Cosh: its weights need all scores"):
        large.read(Memory(jnp.eye(6), separation=Cosh()), jnp.eye(6))
    np.testing.assert_allclose(summand(Cosh(), Z[0], 2.0), np.cosh(2 * Z[0]), rtol=1e-12)
    np.testing.assert_allclose(log_weight(Cosh(), Z[0], 2.0), np.log(np.abs(np.sinh(2 * Z[0]))), rtol=1e-12)
    assert summand(Sparsemax(), Z[0], 2.0) is None


class Halves:
    def potential(self, z, mask=None):
        return jnp.sum(z) / 2

    def weights(self, z, mask=None):
        return jnp.ones_like(z) / 2

    def shares(self, z, mask=None):
        return jnp.ones_like(z) / z.size


class DoublePotential(separations.LogSumExp):
    def potential(self, z, mask=None):
        return 2 * super().potential(z, mask)

    def weights(self, z, mask=None):
        return 2 * super().weights(z, mask)


class MixedIn(Halves, separations.LogSumExp):
    """Weights come from a class that says nothing of them."""


class OwnShares(separations.LogSumExp):
    shares = Halves.shares


@pytest.mark.parametrize("kind", [DoublePotential, MixedIn, OwnShares])
def test_a_subclass_with_functions_of_its_own_is_not_read_by_the_sums_of_its_base(kind):
    assert kind.by_blocks is None
    assert kind.gibbs == (kind is OwnShares)
    memory = Memory(sources.Stored(jnp.eye(3)), separation=kind())
    with pytest.raises(ValueError, match=f"in blocks, got {kind.__name__}: its by_blocks is None"):
        memory.energy(jnp.ones(3))


def test_a_subclass_of_the_quadratic_potential_is_no_network_of_couplings():
    class Doubled(separations.Linear):
        def potential(self, z, mask=None):
            return 2 * super().potential(z, mask)

        def weights(self, z, mask=None):
            return 2 * super().weights(z, mask)

    plain, doubled = (
        Memory(patterns.spins(jax.random.key(0), 3, 8), separation=kind(), space="spins")
        for kind in (separations.Linear, Doubled)
    )
    assert plain.classical
    assert not doubled.classical


TIES = {
    "sparsemax": (Sparsemax(), [4.0, 3.0, 1.0]),
    "entmax": (Entmax(1.5), [4.0, 2.0, 0.0]),
    "rectified": (Polynomial(2, rectified=True), [1.0, 0.0, -1.0]),
    "epanechnikov": (LogReLU(), [0.0, -1.0, -3.0]),
}


@pytest.mark.parametrize(("separation", "scores"), TIES.values(), ids=TIES)
def test_a_score_that_meets_the_threshold_has_no_slope(separation, scores):
    """One-sided, as its weight of 0 says: derivatives of F are the weights, the weights' by hand agree."""
    z = jnp.array(scores)
    weights = separation.weights(z)
    assert weights[1] == 0
    np.testing.assert_allclose(jax.grad(separation.potential)(z), weights, atol=1e-15)
    for jacobian in (jax.jacfwd(separation.weights)(z), jax.jacrev(separation.weights)(z)):
        np.testing.assert_array_equal(jacobian[1], 0.0)
        np.testing.assert_array_equal(jacobian[:, 1], 0.0)
    if has_jacobian_by_hand(separation):
        by_hand = jax.vmap(lambda v: separation.jacobian_product(weights, v))(jnp.eye(3))
        np.testing.assert_allclose(jax.jacfwd(separation.weights)(z), by_hand, atol=1e-15)

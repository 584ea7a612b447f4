"""The distribution of the crosstalk: exact convolution and Fourier inversion against closed forms."""

import math

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import binom, norm

from hopfield.theory import sums

SIGNS, HALF = np.array([-1.0, 1.0]), np.array([0.5, 0.5])


@pytest.mark.parametrize("terms", [1, 2, 7, 100, 4321])
@pytest.mark.parametrize("deviations", [-4.0, -1.0, 0.0, 0.5, 3.0])
def test_lattice_sum_of_signs_is_binomial(terms, deviations):
    bound = np.round(deviations * np.sqrt(terms))
    expected = binom.cdf(np.ceil((terms + bound) / 2) - 1, terms, 0.5)
    assert sums.lattice_below(SIGNS, HALF, terms, bound) == pytest.approx(expected, abs=1e-12)
    up_to = binom.cdf(np.floor((terms + bound) / 2), terms, 0.5)
    assert sums.lattice_below(SIGNS, HALF, terms, bound + 0.5) == pytest.approx(up_to, abs=1e-12)


@pytest.mark.parametrize("terms", [40, 1000, 100_000])
@pytest.mark.parametrize("deviations", [-4.0, -1.0, 0.5, 3.0])
def test_inversion_of_many_signs_is_binomial_with_half_a_tie(terms, deviations):
    # the bound is a point of the lattice of the sum, and a tie as likely as 0.8/√terms
    bound = 2 * np.round(deviations * np.sqrt(terms) / 2)
    below = binom.cdf((terms + bound) / 2 - 1, terms, 0.5) + binom.pmf((terms + bound) / 2, terms, 0.5) / 2
    got = sums.below(np.sqrt(2) * SIGNS, HALF, terms, np.sqrt(2) * bound)
    assert got == pytest.approx(below, abs=0.1 / terms)


def test_inversion_of_a_smooth_sum_is_accurate_to_rounding():
    # a Poisson number of jumps on a fine irrational grid is compared with a direct sum over the number of jumps
    values, weights = np.array([0.0, 1.0]), np.array([1 - 1e-3, 1e-3])
    spread = np.array([-1.0, -0.3, 0.2, 0.9]) * np.pi
    law = np.full(4, 0.25)
    both = (values[:, None] * 5 + spread).ravel(), (weights[:, None] * law).ravel()
    terms, bound = 2000, 11.1
    jumps = np.arange(60)
    within = np.array([sums.below(spread, law, terms, bound - 5 * j) for j in jumps])
    expected = np.sum(binom.pmf(jumps, terms, 1e-3) * within)
    assert sums.below(*both, terms, bound) == pytest.approx(expected, abs=1e-10)
    deviation = np.sqrt(terms * np.mean((spread - spread.mean()) ** 2))
    assert within[0] == pytest.approx(norm.cdf((bound - terms * spread.mean()) / deviation), abs=1e-4)


def _enumerated(values, probabilities, terms: int, bound: float) -> float:
    """Over all sums, the large ones that cancel among them, by whole multiples of the smallest unit."""
    places = np.stack(np.meshgrid(*[np.arange(len(values))] * terms, indexing="ij")).reshape(terms, -1)
    total = np.array([math.fsum(row) for row in np.asarray(values)[places].T])
    weight = np.prod(np.asarray(probabilities)[places], axis=0)
    tie = np.isclose(total, bound, rtol=1e-9, atol=0.0)
    return float(np.sum(weight[~tie & (total < bound)]) + np.sum(weight[tie]) / 2)


@pytest.mark.slow
def test_close_sums_of_few_terms_are_told_apart():
    """Values 20 % apart, among which differences of differences come near the bound."""
    sizes = np.sinh(0.1) * np.exp(0.1 * np.arange(-15, 16, 2.0))
    chances = np.exp(gammaln(16) - gammaln(np.arange(16) + 1) - gammaln(16 - np.arange(16))) / 2**16
    values, bound = np.concatenate([sizes, -sizes]), -sizes[13]
    for terms in (1, 2, 3, 4):
        expected = _enumerated(values, np.tile(chances, 2), terms, bound)
        assert sums.below(values, np.tile(chances, 2), terms, bound, even=True) == pytest.approx(expected, abs=5e-6)

"""Diluted asymmetric networks: maps of one step against plain sums, their fixed points, the load 2/π."""

from itertools import product

import numpy as np
import pytest

from hopfield.theory import diluted


def test_overlaps_vanish_continuously_at_two_over_pi():
    assert diluted.critical_load() == pytest.approx(2 / np.pi, abs=1e-12)
    np.testing.assert_allclose(diluted.last_overlap([0.3, 0.5, 0.6]), [0.89944, 0.61745, 0.32852], atol=1e-5)
    above, near = diluted.last_overlap(2 / np.pi * np.array([1.05, 0.999]))
    assert above < 1e-12
    assert 0 < near < 0.07


@pytest.mark.parametrize("heat", [0.2, 0.6])
def test_the_critical_load_at_a_temperature_is_where_the_overlap_vanishes(heat):
    load = diluted.critical_load(heat)
    assert diluted.last_overlap(1.02 * load, heat) < 1e-9
    assert 0.01 < diluted.last_overlap(0.98 * load, heat) < 0.3
    assert diluted.critical_load(1e-3) == pytest.approx(2 / np.pi, abs=1e-5)
    assert np.isnan(diluted.critical_load(1.0))


def test_few_inputs_are_counted_exactly():
    """All signs of three inputs and two patterns, one by one; a field of zero keeps the spin."""
    m, inputs, expected = 0.3, 3, 0.0
    for signs in product((-1, 1), repeat=2 * inputs):
        chance = np.prod([(1 + s * m) / 2 for s in signs[:inputs]]) / 2**inputs
        expected += chance * (np.sign(sum(signs)) if sum(signs) else m)
    assert diluted.next_overlap_of_inputs(inputs, 2, m) == pytest.approx(expected, abs=1e-14)


def test_many_inputs_are_gaussian():
    found = diluted.next_overlap_of_inputs(4001, 2001, 0.4)
    assert found == pytest.approx(diluted.next_overlap(2000 / 4001, 0.4), abs=2e-4)
    assert diluted.next_overlap(0.5, 0.4, 1e-4) == pytest.approx(diluted.next_overlap(0.5, 0.4), abs=1e-7)


def test_poisson_numbers_of_inputs_end_where_a_sum_over_them_stands_still():
    """Iterated as a plain sum from the pattern; fewer inputs keep more at one load, and at T = 0 above 2/π too."""
    mean, count, m = 6.0, 3, 1.0
    terms = [np.exp(-mean)]
    for k in range(1, 40):
        terms.append(terms[-1] * mean / k)
    for _ in range(400):
        maps = [m, *(float(diluted.next_overlap_of_inputs(k, count, m)) for k in range(1, 40))]
        m = float(np.dot(terms, maps))
    assert diluted.last_overlap_of_inputs(mean, count) == pytest.approx(m, abs=1e-6)
    assert m > diluted.last_overlap(count / mean)
    assert diluted.last_overlap_of_inputs(24, 22) == 0.0

"""Crossings of one half: exact where the mean is known, errors that cover the truth, a reason where there is none."""

import numpy as np
import pytest
from scipy.special import expit, ndtr

from experiments.statistics.clusters import standard_error
from experiments.statistics.crossings import half_crossing, parabolic_crossing

X = np.linspace(-1, 1, 9)


def samples(places, shifts, slope=5.0):
    """Columns of samples whose means are logistic curves, each crossing one half at its own shift."""
    x, shift = (column.ravel() for column in np.meshgrid(places, shifts))
    return x, expit(slope * (x - shift)), np.repeat(np.arange(len(shifts)), len(places))


@pytest.mark.parametrize("centre", [-0.6, 0.013, 0.47])
def test_logistic_mean_crosses_exactly_where_it_should(centre):
    # The logit of one logistic curve is a straight line, which cubic and line interpolate without error.
    found = half_crossing(*samples(X, [centre] * 4))
    assert found.value == pytest.approx(centre, abs=1e-9)
    assert found.stderr == pytest.approx(0, abs=1e-9)
    assert found.clusters == 4


def test_error_of_few_equal_shifts_is_that_of_their_mean():
    # For curves much wider than the shifts the crossing is the mean shift, whose error is t s/√G.
    shifts = np.random.default_rng(0).normal(0.1, 0.02, 12)
    found = half_crossing(*samples(X, shifts, slope=3.0))
    assert found.value == pytest.approx(shifts.mean(), abs=2e-4)
    assert found.stderr == pytest.approx(standard_error(shifts), rel=0.03)


def test_error_covers_what_a_coarse_grid_leaves_open():
    # ln-ln growth of the logit, far from straight between the two points on either side of the crossing
    places = np.log([2.0, 4.0, 6.0, 8.0, 12.0])
    mean = expit(np.exp(places) - 7.0)
    found = half_crossing(places, mean, np.zeros(5))
    doubled = half_crossing(np.tile(places, 2), np.tile(mean, 2), np.repeat([0, 1], 5))
    assert abs(found.value - np.log(7.0)) < doubled.stderr < 0.05


def test_first_of_several_crossings_counts():
    mean = [0.2, 0.7, 0.4, 0.9]
    assert 0 < half_crossing(np.arange(4.0), mean, np.zeros(4)).value < 1


@pytest.mark.parametrize("mean", [[0.1, 0.2, 0.4], [0.6, 0.8, 0.9], [0.9, 0.5, 0.1], [0.5]], ids=str)
def test_no_crossing_has_a_reason_instead_of_a_value(mean):
    found = half_crossing(np.arange(len(mean)), mean, np.zeros(len(mean)))
    assert np.isnan(found.value)
    assert "rise through one half" in found.reason


def test_draws_that_points_share_give_a_parabola_their_error():
    """Parallel lines: the crossing is the mean of theirs, its error t s/√G, whatever errors the points have."""
    load, shifts = np.linspace(0, 1, 9), np.array([0.0, 0.02, 0.03, -0.04, 0.01])
    curves = load - 0.3 - shifts[:, None]
    left_out = [np.delete(curves, i, axis=0).mean(axis=0) for i in range(5)]
    found = parabolic_crossing(load, curves.mean(axis=0), np.full(9, 1e-5), left_out=left_out)
    assert found == pytest.approx((0.3 + shifts.mean(), standard_error(shifts)), rel=1e-6)
    value, stderr = parabolic_crossing(load, curves[0], np.full(9, 1e-5), left_out=curves[:1])
    assert value == pytest.approx(0.3)
    assert stderr is not None
    assert np.isnan(stderr)
    with pytest.raises(ValueError, match="load, left_out must be columns of one length"):
        parabolic_crossing(load, curves[0], np.full(9, 1e-5), left_out=curves[:, :3])


@pytest.mark.parametrize("centre", [0.1, 0.4, 0.7])
def test_a_curve_that_is_no_parabola_over_five_points_is_crossed_where_it_is(centre):
    """A step as wide as four points, measured to 1 %: the parabola through five puts it three errors off."""
    load = np.arange(-6.0, 8.0)
    value = 0.5 * ndtr((load - centre) / 1.35)
    found, stderr = parabolic_crossing(load, value, np.full(load.size, 0.002), 0.25)
    assert found is not None
    assert stderr is not None
    assert abs(found - centre) < 0.5 * stderr
    assert stderr < 0.03

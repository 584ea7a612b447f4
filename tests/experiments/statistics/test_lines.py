"""Straight lines: closed forms, and an independent least-squares routine."""

import numpy as np
import pytest
from statsmodels.api import WLS, add_constant

from experiments.statistics.lines import straight_line


def test_a_line_through_two_points_has_their_errors():
    """Slope (y₂ − y₁) / (x₂ − x₁), its variance (σ₁² + σ₂²) / (x₂ − x₁)²; that of the height at x = 0 is σ₁²."""
    line = straight_line([0.0, 2.0], [1.0, 2.0], [0.3, 0.4])
    assert (line.height, line.slope) == pytest.approx((1.0, 0.5))
    assert np.diag(line.covariance) == pytest.approx([0.3**2, 0.5**2 / 4])
    assert line.chi2 == pytest.approx(0, abs=1e-20)
    assert line.dof == 0
    assert line.at([0.0, 4.0]) == pytest.approx([1.0, 3.0])


def test_a_weighted_line_equals_that_of_statsmodels():
    rng = np.random.default_rng(0)
    x, y, stderr = rng.uniform(1, 3, 9), rng.normal(size=9), rng.uniform(0.5, 2, 9)
    line, other = straight_line(x, y, stderr), WLS(y, add_constant(x), weights=stderr**-2.0).fit()
    assert (line.height, line.slope) == pytest.approx(tuple(other.params), rel=1e-12)
    assert line.covariance == pytest.approx(other.normalized_cov_params, rel=1e-12)
    assert line.chi2 == pytest.approx(np.sum(other.wresid**2), rel=1e-12)
    assert line.dof == other.df_resid


def test_an_error_that_all_points_share_does_not_move_the_line():
    x, y = [1.0, 2.0, 4.0], [0.3, 0.1, 0.7]
    assert straight_line(x, y, 3.0).slope == pytest.approx(straight_line(x, y).slope, rel=1e-14)

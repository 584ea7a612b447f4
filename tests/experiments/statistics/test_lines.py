"""Straight lines: closed forms, and an independent least-squares routine."""

import numpy as np
import pytest

from experiments.statistics.lines import straight_line


def test_a_line_through_two_points_has_their_errors():
    """Slope (y₂ − y₁) / (x₂ − x₁), its variance (σ₁² + σ₂²) / (x₂ − x₁)²; variance of the height at x = 0: σ₁²."""
    line = straight_line([0.0, 2.0], [1.0, 2.0], [0.3, 0.4])
    assert (line.height, line.slope) == pytest.approx((1.0, 0.5))
    assert np.diag(line.covariance) == pytest.approx([0.3**2, 0.5**2 / 4])
    assert line.chi2 == pytest.approx(0, abs=1e-20)
    assert line.dof == 0
    assert line.at([0.0, 4.0]) == pytest.approx([1.0, 3.0])


def test_a_weighted_line_equals_least_squares_of_scaled_rows():
    rng = np.random.default_rng(0)
    x, y, stderr = rng.uniform(1, 3, 9), rng.normal(size=9), rng.uniform(0.5, 2, 9)
    line, design = straight_line(x, y, stderr), np.column_stack([np.ones(9), x]) / stderr[:, None]
    best, chi2, *_ = np.linalg.lstsq(design, y / stderr, rcond=None)
    assert (line.height, line.slope) == pytest.approx(tuple(best), rel=1e-12)
    assert line.covariance == pytest.approx(np.linalg.inv(design.T @ design), rel=1e-12)
    assert line.chi2 == pytest.approx(chi2[0], rel=1e-12)
    assert line.dof == 7

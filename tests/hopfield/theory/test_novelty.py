"""Theory of what softmax₁ leaves over, against drawn overlaps and in its limits."""

import numpy as np
import pytest

from hopfield.theory import novelty

RNG = np.random.default_rng(2)


def overlaps(width: int, patterns: int, draws: int = 40000) -> np.ndarray:
    """Overlaps of random unit vectors with a fixed one."""
    first = RNG.normal(size=(draws, patterns))
    return first / np.sqrt(first**2 + RNG.chisquare(width - 1, size=first.shape))


@pytest.mark.parametrize(("patterns", "kappa", "overlap"), [(12, 3.0, 0.5), (40, 10.0, 0.6), (12, 20.0, 0.5)])
def test_area_is_the_probability_that_a_known_query_has_the_larger_sum(patterns, kappa, overlap):
    """16 components, 40000 pairs: within four standard errors of 0.0025 at most, and 1e-3 for the inversion."""
    known = np.exp(kappa * overlap) + np.exp(kappa * overlaps(16, patterns - 1)).sum(axis=1)
    novel = np.exp(kappa * overlaps(16, patterns)).sum(axis=1)
    assert novelty.auc(16, patterns, kappa, overlap) == pytest.approx(np.mean(known > novel), abs=0.011)


@pytest.mark.parametrize(
    ("width", "patterns", "kappa", "overlap"),
    [
        (16, 32, 80.0, 0.5),
        (32, 16, 80.0, 0.4),
        (8, 5, 40.0, 0.3),
        (3, 2, 20.0, 0.5),
        (3, 4, 1e-6, 0.5),
        (16, 3, 0.01, 0.2),
    ],
)
def test_area_of_terms_of_all_sizes_and_of_equal_ones(width, patterns, kappa, overlap):
    """Sums to first order in small κ: c + Z_known − Z_novel over e^(κ m)."""
    known, novel = (np.expm1(kappa * (overlaps(width, n) - overlap)).sum(axis=1) for n in (patterns - 1, patterns))
    assert novelty.auc(width, patterns, kappa, overlap) == pytest.approx(np.mean(known > novel), abs=0.011)


def test_weight_left_over_is_annealed():
    mean = np.exp(2.0 * overlaps(16, 1)).mean()
    assert novelty.leftover(16, 50, 2.0) == pytest.approx(1 / (1 + 50 * mean), rel=0.01)
    assert novelty.leftover(16, 50, 2.0, 0.7) == pytest.approx(1 / (1 + np.exp(1.4) + 49 * mean), rel=0.01)

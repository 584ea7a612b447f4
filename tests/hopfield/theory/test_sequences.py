"""Sequence theory: exact binomials by hand, the published numbers, and limits."""

import itertools

import numpy as np
import pytest
from scipy.stats import binom

from hopfield.theory import sequences


def test_bit_error_of_the_linear_rule_is_a_binomial_tail():
    """Crosstalk at d = 1: (N − 1)(P − 1) fair signs against the signal N − 1; a tie counts half."""
    for neurons, patterns in ((10, 4), (100, 11), (31, 8)):
        terms = (neurons - 1) * (patterns - 1)
        exact = sum(
            binom.pmf(k, terms, 0.5) * (1.0 if 2 * k - terms < 1 - neurons else 0.5)
            for k in range(terms + 1)
            if 2 * k - terms <= 1 - neurons
        )
        assert sequences.bit_error(neurons, patterns, 1) == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 40, None])
@pytest.mark.parametrize(("neurons", "patterns"), [(2, 1), (3, 2), (4, 2), (5, 3), (4, 4), (3, 5)])
def test_bit_error_is_that_of_every_draw(degree, neurons, patterns):
    """By enumeration of a neuron's spins and of all overlaps; a tie keeps the spin, which the last pattern calls for.

    Sums of exponentials of different overlaps never vanish: their ties are of overlaps that cancel.
    """
    sums = neurons - 1 - 2 * np.arange(neurons)
    chances = binom.pmf(np.arange(neurons), neurons - 1, 0.5)
    wrong = 0.0
    for spins in itertools.product((1, -1), repeat=patterns):
        calls = np.roll(spins, -1)
        for others in itertools.product(range(neurons), repeat=patterns - 1):
            overlaps = np.array([neurons - 1, *sums[list(others)]])
            field = calls @ (np.exp(overlaps.astype(float)) if degree is None else overlaps.astype(object) ** degree)
            tie = field == 0 if degree else all(calls[overlaps == value].sum() == 0 for value in overlaps)
            new = spins[0] if tie else np.sign(field)
            wrong += np.prod(chances[list(others)]) * (new != calls[0]) / 2**patterns
    assert sequences.bit_error(neurons, patterns, degree) == pytest.approx(wrong, abs=1e-12)


def test_whole_sequences_at_100_neurons():
    """By Φ(1/σ)^{PN} at d = 2: .83, .53, .02 at P = 181, 205, 253; exact crosstalk has heavier tails, .43 at 205."""
    lengths = np.array([181, 205, 253])
    share = sequences.transitions_right(sequences.bit_error_gaussian(100, lengths, 2), 100, lengths)
    assert share == pytest.approx([0.83, 0.53, 0.02], abs=0.02)
    exact = sequences.transitions_right(sequences.bit_error(100, 205, 2), 100, 205)
    assert exact == pytest.approx(0.426, abs=0.002)


def test_published_capacities():
    assert sequences.published_capacity(100, 2) == pytest.approx(362, abs=1)
    assert sequences.published_capacity(100, 2, whole_sequence=True) == pytest.approx(121, abs=1)

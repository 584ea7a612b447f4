"""Shells of overlap sampled instead of patterns: against exact finite-size theory and enumerated patterns."""

import math

import jax
import numpy as np
import pytest

from hopfield.large import counts, overlap_sampling
from hopfield.patterns.sources import Generated
from hopfield.theory import exponential

T = 40_000


def off(measured: float, expected: float, trials: int) -> float:
    """Distance of a measured share from its expectation in standard errors."""
    return abs(measured - expected) / math.sqrt(max(expected * (1 - expected), 1e-9) / trials)


@pytest.mark.parametrize(
    ("neurons", "load", "flipped"), [(16, 0.55, 0), (40, 0.57, 0), (40, 0.42, 4), (100, 0.56, 0), (100, 0.66, 0)]
)
def test_success_and_error_are_those_of_exact_theory(neurons, load, flipped):
    """At N = 100 there are e^56 patterns, far beyond whole numbers that can be enumerated."""
    patterns, corruption = float(round(math.exp(load * neurons))), flipped / neurons
    found = overlap_sampling.sample(neurons, load * neurons, flipped=flipped, trials=T, seed=1)
    expected = float(exponential.target_weight_probability(neurons, patterns, 1.0, corruption))
    assert off(np.mean(found.target_weight > 0.5), expected, T) < 4
    assert np.mean(found.target_weight) == pytest.approx(
        float(exponential.target_weight(neurons, patterns, 1.0, corruption)), abs=4 * 0.5 / math.sqrt(T)
    )
    error = float(exponential.one_step_error(neurons, patterns, 1.0, corruption))
    assert off(np.mean(found.wrong), error, T) < 4


def test_enumerated_patterns_show_the_same():
    """3000 patterns of 20 spins, drawn 60 times and counted one by one, 20 queries each."""
    neurons, patterns, weight, entropy, wrong = 20, 3000, [], [], []
    for draw in range(60):
        source = Generated(jax.random.key(draw), "spins", patterns, neurons)
        queries = np.asarray(source.rows(0, 20))
        found = counts.count(source, queries)
        weight.append(found.target_weight(np.full(20, neurons), 0.6))
        entropy.append(found.entropy(0.6))
        wrong.append(np.mean(found.update(lambda s: np.exp(0.6 * (s - neurons))) != queries))
    sampled = overlap_sampling.sample(neurons, math.log(patterns), beta=0.6, trials=T)
    for measured, same in ((weight, sampled.target_weight), (entropy, sampled.entropy)):
        per_draw = np.mean(measured, axis=1)
        assert abs(per_draw.mean() - same.mean()) < 4 * per_draw.std() / math.sqrt(60) + 4 * same.std() / math.sqrt(T)
    assert abs(np.mean(wrong) - sampled.wrong.mean()) < 4 * np.std(wrong) / math.sqrt(60) + 4 * 0.5 / math.sqrt(T)


@pytest.mark.parametrize("alpha", [0.5, 0.62])
def test_entropy_beyond_enumeration_is_that_of_the_saddle_point(alpha):
    """Above the threshold H = α N − (λ tanh λ − ln cosh λ) N, from the shell that dominates; below, H vanishes."""
    neurons = 400
    found = overlap_sampling.sample(neurons, alpha * neurons, trials=200)
    spread = alpha - (math.tanh(1) - math.log(math.cosh(1)))
    expected = 0.0 if alpha < 0.5662 else spread
    assert np.mean(found.entropy) / neurons == pytest.approx(expected, abs=0.002)

"""Designs of threshold measurements: loads, clusters, and trials that are alike within a cluster."""

import numpy as np

THRESHOLD, WIDTH = 0.14, 0.006
LOADS = np.linspace(0.12, 0.16, 9)


def rows(loads, samples):
    """Load and sample of every row of a complete design."""
    return np.repeat(loads, samples), np.tile(np.arange(samples), len(loads))


def beta_binomial(rng, probability, trials, correlation):
    """Successes whose probability varies from row to row, with this correlation between the trials of a row."""
    strength = 1 / correlation - 1
    return rng.binomial(trials, rng.beta(probability * strength + 1e-12, (1 - probability) * strength + 1e-12))

"""Means of samples beside what they should be."""

import math

import numpy as np


def standard_errors(samples, expected):
    """Distance of the mean over axis 0 from `expected`, in standard errors of independent samples."""
    samples = np.asarray(samples, np.float64)
    error = samples.std(axis=0, ddof=1) / math.sqrt(len(samples))
    return np.abs(samples.mean(axis=0) - expected) / error

"""Whole numbers of 64 bits: JAX keeps their lower 32 bits, the library all of them."""

import jax
import numpy as np
import pytest

from hopfield import Couplings, Memory, attention, metrics
from hopfield.observables import thermodynamics

BIG = 2**33 + 5
NUMBERS = np.array([[BIG, 2], [3, 4]])
FLOATS = NUMBERS.astype(np.float32)


@pytest.mark.parametrize("numbers", [NUMBERS, NUMBERS.tolist(), NUMBERS.astype(np.uint64)], ids=["int", "list", "uint"])
def test_patterns_keep_their_size(numbers):
    with jax.enable_x64(False):
        assert np.array_equal(Memory(numbers, 1.0).patterns, FLOATS)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: Memory(FLOATS, 1.0).energy(x[0]),
        lambda x: attention.scores(x, x, beta=1.0),
        lambda x: metrics.Full(x).dense(),
        lambda x: metrics.inner(x[0], np.array([1, 1]), metrics.Euclidean(2)),
        lambda x: metrics.distance(x[0], x[1], metrics.Euclidean(2)),
        lambda x: metrics.contract("ij->i", x=x),
        lambda x: thermodynamics.log_partition(x, 1.0),
        lambda x: attention.attend([[1.0], [2.0]], [[1.0], [2.0]], [[1.0], [2.0]], beta=x[0, 0]),
        lambda x: Couplings(np.array([[0, 1], [1, 0]]) * x[0, 0]).energy(np.ones(2)),
    ],
    ids=["energy", "scores", "metric", "inner", "distance", "contract", "log_partition", "beta", "couplings"],
)
def test_whole_numbers_count_as_the_floats_they_are(function):
    with jax.enable_x64(False):
        np.testing.assert_allclose(function(NUMBERS), function(FLOATS), rtol=1e-6)

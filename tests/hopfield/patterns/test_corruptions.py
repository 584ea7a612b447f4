"""Corruptions: how many units they change, which, and how they are named."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from hopfield import patterns
from tests.hopfield.patterns.samples import standard_errors

KEY = jax.random.key(20240917)
FRACTIONS = [0.0, 0.1, 0.25, 0.3, 0.5, 0.737, 1.0]


@pytest.mark.parametrize("neurons", [10, 101])
def test_flips_are_exactly_as_many_as_the_fraction_says(neurons):
    pattern = np.asarray(patterns.spins(KEY, 1, neurons)[0])

    def flipped(fraction, key):
        return patterns.corrupt(key, pattern, "flip", fraction)

    keys = jax.random.split(KEY, 20)
    both = jax.jit(jax.vmap(jax.vmap(flipped, (None, 0)), (0, None)))
    state, known = map(np.asarray, both(jnp.asarray(FRACTIONS), keys))
    for row, fraction in enumerate(FRACTIONS):
        count = round(fraction * neurons)
        np.testing.assert_array_equal(np.sum(state[row] != pattern[None], axis=1), count)
        np.testing.assert_array_equal(known[row], state[row] == pattern[None])
        np.testing.assert_allclose(np.mean(state[row] * pattern[None], axis=1), 1 - 2 * count / neurons, atol=1e-15)
        alone = patterns.flip(keys[0], pattern, fraction)
        np.testing.assert_array_equal(alone, state[row, 0])


def test_every_unit_is_flipped_equally_often():
    keys = jax.random.split(KEY, 4000)
    flipped = ~np.asarray(jax.jit(jax.vmap(lambda key: patterns.corrupt(key, jnp.ones(20), "flip", 0.3).known))(keys))
    assert np.max(standard_errors(flipped, 0.3)) < 4
    # Two given units, 6 of 20 flipped: both are with probability 6·5/(20·19).
    assert standard_errors(flipped[:, 3] & flipped[:, 4], 30 / 380) < 4


def test_a_larger_fraction_corrupts_a_superset():
    few, many = (patterns.corrupt(KEY, jnp.ones(50), "flip", fraction).known for fraction in (0.2, 0.5))
    assert bool(jnp.all(few | ~many))


@pytest.mark.parametrize("fill", [0.0, 0.5, "random"], ids=str)
@pytest.mark.parametrize("region", patterns.REGIONS)
def test_masks_hide_exactly_their_share_and_nothing_else(region, fill):
    pattern = np.asarray(patterns.gaussian(KEY, 1, 64)[0])
    state = np.asarray(jax.jit(lambda f: patterns.hide(KEY, pattern, f, fill=fill, region=region))(0.4))
    known = state == pattern
    assert np.sum(~known) == round(0.4 * 64)
    if fill == "random":
        assert set(np.unique(state[~known])) == {-1.0, 1.0}
    else:
        np.testing.assert_array_equal(state[~known], fill)


def test_lower_and_upper_masks_hide_the_rows_of_an_image():
    image = jnp.arange(1.0, 17.0).reshape(4, 4)
    lower = patterns.hide(None, image.ravel(), 0.5, region="lower").reshape(4, 4)
    upper = patterns.hide(None, image.ravel(), 0.25, region="upper").reshape(4, 4)
    np.testing.assert_array_equal(lower, image.at[2:].set(0.0))
    np.testing.assert_array_equal(upper, image.at[:1].set(0.0))


def test_random_signs_are_unrelated_to_the_pattern():
    pattern = patterns.spins(KEY, 1, 2000)[0]
    state, known = patterns.corrupt(KEY, pattern, "mask", 0.5, fill="random")
    assert abs(float(jnp.sum(jnp.where(known, 0.0, state * pattern)))) < 4 * math.sqrt(1000)


def test_noise_has_its_standard_deviation_and_leaves_nothing_known():
    state, known = jax.jit(lambda x: patterns.corrupt(KEY, x, "noise", 0.3))(jnp.full(20000, 2.0))
    assert not np.any(known)
    assert scipy.stats.kstest((np.asarray(state) - 2.0) / 0.3, "norm").pvalue > 1e-3


@pytest.mark.parametrize(
    ("kind", "direct"),
    [
        ("flip", lambda state: patterns.flip(KEY, state, 0.25)),
        ("mask", lambda state: patterns.hide(KEY, state, 0.25, fill="random")),
        ("lower", lambda state: patterns.hide(KEY, state, 0.25, fill="random", region="lower")),
        ("noise", lambda state: patterns.noise(KEY, state, 0.25)),
    ],
    ids=patterns.CORRUPTIONS,
)
def test_corrupt_is_the_corruption_it_names(kind, direct):
    state = patterns.spins(KEY, 1, 40)[0]
    by_name, by_call = patterns.corrupt(KEY, state, kind, 0.25, fill="random"), direct(state)
    np.testing.assert_array_equal(by_name.state, by_call)
    in_one = jax.jit(lambda state: patterns.corrupt(KEY, state, f"{kind}:0.25", fill="random"))(state)
    np.testing.assert_allclose(in_one.state, by_call, rtol=1e-6)
    np.testing.assert_array_equal(in_one.known, by_name.known)


@pytest.mark.parametrize(
    ("spec", "kind", "amount", "text"),
    [
        ("flip:0.2", "flip", 0.2, "flip:0.2"),
        ("0.2", "flip", 0.2, "flip:0.2"),
        (0.2, "flip", 0.2, "flip:0.2"),
        (0, "flip", 0.0, "flip:0"),
        (-0.0, "flip", 0.0, "flip:0"),
        ("mask:0.5", "mask", 0.5, "mask:0.5"),
        ("lower:1", "lower", 1.0, "lower:1"),
        (" noise: 3e0", "noise", 3.0, "noise:3"),
    ],
)
def test_corruption_is_read_from_text(spec, kind, amount, text):
    parsed = patterns.corruption(spec)
    assert parsed == (kind, amount)
    assert str(parsed) == text
    assert patterns.corruption(str(parsed)) == parsed

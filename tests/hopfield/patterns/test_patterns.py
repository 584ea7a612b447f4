import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from hopfield import patterns

KEY = jax.random.key(20240917)

ENSEMBLES = {
    "spins": patterns.spins,
    "biased": lambda *args, **options: patterns.biased(*args, 0.3, **options),
    "correlated": lambda *args, **options: patterns.correlated(*args, 4.0, **options),
    "gaussian": patterns.gaussian,
    "sphere": patterns.sphere,
}
SPIN_ENSEMBLES = ("spins", "biased", "correlated")
every_ensemble = pytest.mark.parametrize("ensemble", ENSEMBLES.values(), ids=ENSEMBLES)
spin_ensembles = pytest.mark.parametrize("name", SPIN_ENSEMBLES)


def standard_errors(samples, expected):
    """Distance of the mean over axis 0 from `expected`, in standard errors of independent samples."""
    samples = np.asarray(samples, np.float64)
    error = samples.std(axis=0, ddof=1) / math.sqrt(len(samples))
    return np.abs(samples.mean(axis=0) - expected) / error


@every_ensemble
def test_more_patterns_never_change_the_earlier_ones(ensemble):
    few, many = ensemble(KEY, 5, 33), ensemble(KEY, 64, 33)
    np.testing.assert_array_equal(few, many[:5])
    assert len(np.unique(many, axis=0)) == 64


def test_a_row_of_spins_is_the_low_bits_of_the_key_folded_with_its_index():
    """Worked by hand: generated patterns are the same ones in every release."""
    bits = np.asarray(jax.random.bits(jax.random.fold_in(KEY, 3), (33,), jnp.uint8))
    np.testing.assert_array_equal(patterns.spins(KEY, 5, 33)[3], np.where(bits & 1, 1.0, -1.0))


@every_ensemble
def test_first_continues_the_ensemble(ensemble):
    whole = ensemble(KEY, 64, 33)
    np.testing.assert_array_equal(ensemble(KEY, 5, 33, first=7), whole[7:12])
    mapped = jax.jit(jax.vmap(lambda first: ensemble(KEY, 5, 33, first=first)))(jnp.asarray([7, 59]))
    np.testing.assert_allclose(mapped[0], whole[7:12], rtol=1e-12)
    np.testing.assert_allclose(mapped[1], whole[59:], rtol=1e-12)


@every_ensemble
def test_dtype_is_the_one_asked_for_or_the_precision_in_force(ensemble):
    for dtype in (jnp.float16, jnp.float32):
        drawn = ensemble(KEY, 5, 33, dtype=dtype)
        assert drawn.dtype == dtype
        assert bool(jnp.all(jnp.isfinite(drawn)))
    assert ensemble(KEY, 5, 33).dtype == jnp.float64
    with jax.enable_x64(False):
        assert ensemble(KEY, 5, 33).dtype == jnp.float32


@spin_ensembles
def test_spins_are_plus_or_minus_one_and_the_same_in_every_precision(name):
    double, single = (ENSEMBLES[name](KEY, 5, 33, dtype=dtype) for dtype in (None, jnp.float32))
    assert set(np.unique(double)) == {-1.0, 1.0}
    np.testing.assert_array_equal(double, single)
    with jax.enable_x64(False):
        np.testing.assert_array_equal(np.asarray(ENSEMBLES[name](KEY, 5, 33)), np.asarray(single))


@every_ensemble
def test_a_single_neuron_is_finite(ensemble):
    drawn = ensemble(KEY, 1, 1)
    assert drawn.shape == (1, 1)
    assert np.isfinite(drawn[0, 0])


def test_spins_are_unbiased_and_independent():
    drawn = np.asarray(patterns.spins(KEY, 400, 500))
    # ⟨ξ⟩ has variance 1/(M N); Σ_i ξ_i^μ ξ_i^ν / N has mean 0 and variance 1/N, so N·its square averages 1.
    assert abs(drawn.mean()) * math.sqrt(drawn.size) < 4
    crosstalk = (drawn @ drawn.T)[np.triu_indices(400, 1)] / math.sqrt(500)
    assert np.mean(crosstalk**2) == pytest.approx(1.0, abs=4 * math.sqrt(2 / crosstalk.size))
    between_units = (drawn.T @ drawn)[np.triu_indices(500, 1)] / math.sqrt(400)
    assert np.mean(between_units**2) == pytest.approx(1.0, abs=4 * math.sqrt(2 / between_units.size))


@pytest.mark.parametrize("bias", [-0.7, 0.0, 0.2, 0.9])
def test_biased_spins_have_the_mean_activity_asked_for(bias):
    drawn = np.asarray(patterns.biased(KEY, 500, 400, bias))
    assert abs(drawn.mean() - bias) < 4 * math.sqrt((1 - bias**2) / drawn.size)
    # Independent rows: the overlap of two of them is a² on average.
    overlaps = np.mean(drawn[::2] * drawn[1::2], axis=1)
    assert standard_errors(overlaps, bias**2) < 4


@pytest.mark.parametrize("bias", [-1.0, 1.0])
def test_extreme_bias_gives_constant_patterns(bias):
    np.testing.assert_array_equal(patterns.biased(KEY, 500, 400, bias), np.full((500, 400), bias))


@pytest.mark.parametrize(
    ("neurons", "length"), [(60, 0.7), (60, 5.0), (61, 5.0), (40, 30.0)], ids=["short", "even", "odd", "ring"]
)
def test_correlated_spins_follow_the_arcsine_law(neurons, length):
    drawn = np.asarray(patterns.correlated(KEY, 6000, neurons, length))
    transform = np.fft.rfft(drawn)
    correlation = np.fft.irfft(np.abs(transform) ** 2, n=neurons)[:, : neurons // 2 + 1] / neurons
    distance = np.arange(1, neurons // 2 + 1)
    # Orthant probability of two unit normals with correlation ρ: ⟨sign sign⟩ = (2/π) arcsin ρ.
    expected = 2 / np.pi * np.arcsin(np.exp(-distance / length))
    assert np.max(standard_errors(correlation[:, 1:], expected)) < 4.5
    assert standard_errors(np.mean(drawn[::2] * drawn[1::2], axis=1), 0.0) < 4  # rows are independent
    assert abs(drawn.mean()) < 4.5 * math.sqrt(drawn.mean(axis=1).var() / len(drawn))


def test_correlated_spins_of_no_length_are_independent_and_of_endless_length_constant():
    independent = np.asarray(patterns.correlated(KEY, 1000, 64, 0.0))
    neighbours = np.mean(independent * np.roll(independent, 1, axis=1), axis=1)
    assert standard_errors(neighbours, 0.0) < 4
    constant = np.asarray(patterns.correlated(KEY, 1000, 64, math.inf))
    assert np.all(constant == constant[:, :1])


def test_gaussian_components_are_standard_normal():
    drawn = np.asarray(patterns.gaussian(KEY, 100, 300))
    assert scipy.stats.kstest(drawn.ravel(), "norm").pvalue > 1e-3
    assert standard_errors(np.sum(drawn**2, axis=1), 300.0) < 4


@pytest.mark.parametrize("neurons", [3, 10])
def test_sphere_is_uniform(neurons):
    drawn = np.asarray(patterns.sphere(KEY, 5000, neurons, radius=1.0))
    # One coordinate t of a uniform direction: (1 + t)/2 is Beta((N−1)/2, (N−1)/2).
    shape = (neurons - 1) / 2
    for coordinate in (0, neurons - 1):
        assert scipy.stats.kstest((1 + drawn[:, coordinate]) / 2, "beta", (shape, shape)).pvalue > 1e-3
    assert standard_errors(np.sum(drawn[::2] * drawn[1::2], axis=1) ** 2, 1 / neurons) < 4


@pytest.mark.parametrize("radius", [None, 0.0, 1.0, 7.5], ids=str)
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64], ids=lambda dtype: dtype.__name__)
def test_sphere_has_the_radius_asked_for(radius, dtype):
    norms = np.linalg.norm(np.asarray(patterns.sphere(KEY, 50, 37, radius, dtype=dtype), np.float64), axis=1)
    expected = math.sqrt(37) if radius is None else radius
    np.testing.assert_allclose(norms, expected, rtol=8 * jnp.finfo(dtype).eps)


@pytest.mark.parametrize(
    ("draw", "value"),
    [(patterns.biased, 0.4), (patterns.correlated, 3.0), (patterns.sphere, 2.0)],
    ids=["bias", "length", "radius"],
)
def test_numbers_may_be_traced_and_mapped(draw, value):
    values = jnp.asarray([value, value / 2])
    mapped = jax.jit(jax.vmap(lambda number: draw(KEY, 5, 33, number)))(values)
    for row, number in zip(mapped, (value, value / 2), strict=True):
        np.testing.assert_allclose(row, draw(KEY, 5, 33, number), rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: patterns.spins(KEY, 0, 5), "patterns must be an integer of at least 1, got 0"),
        (lambda: patterns.spins(KEY, 5, 2.5), "neurons must be an integer of at least 1, got 2.5"),
        (lambda: patterns.correlated(KEY, 5, -1, 2.0), "neurons must be an integer of at least 1, got -1"),
        (lambda: patterns.gaussian(KEY, True, 5), "patterns must be an integer of at least 1, got True"),
        (lambda: patterns.spins(KEY, 5, 5, first=-1), "first must be an integer of at least 0, got -1"),
        (lambda: patterns.spins(KEY, 5, 5, dtype=int), "dtype must be a floating type, got int64"),
        (lambda: patterns.biased(KEY, 5, 5, 1.2), r"bias must be in \[-1, 1\], got 1.2"),
        (lambda: patterns.biased(KEY, 5, 5, math.nan), r"bias must be in \[-1, 1\], got nan"),
        (lambda: patterns.correlated(KEY, 5, 5, -1.0), "length must be at least 0, got -1.0"),
        (lambda: patterns.sphere(KEY, 5, 5, -1.0), "radius must be at least 0 and finite, got -1.0"),
        (lambda: patterns.flip(KEY, jnp.ones(5), 1.5), r"fraction must be in \[0, 1\], got 1.5"),
        (lambda: patterns.mask(KEY, jnp.ones(5), -0.1), r"fraction must be in \[0, 1\], got -0.1"),
        (lambda: patterns.mask(KEY, jnp.ones(5), 0.1, region="left"), "region must be one of random, upper"),
        (
            lambda: patterns.mask(KEY, jnp.ones(5), 0.1, fill="grey"),
            "fill must be a number or random, got 'grey'",
        ),
        (lambda: patterns.mask(None, jnp.ones(5), 0.1), "key must be a random key where region or fill"),
        (lambda: patterns.noise(KEY, jnp.ones(5), -0.1), "sigma must be at least 0 and finite, got -0.1"),
        (
            lambda: patterns.flip(KEY, jnp.ones((2, 5)), 0.1),
            r"state must have shape \[N\] .* got shape \(2, 5\)",
        ),
        (
            lambda: patterns.corrupt(KEY, jnp.ones(5), "swap", 0.1),
            "kind must be one of flip, mask, lower, noise",
        ),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


FRACTIONS = [0.0, 0.1, 0.25, 0.3, 0.5, 0.737, 1.0]


@pytest.mark.parametrize("neurons", [10, 101])
def test_flips_are_exactly_as_many_as_the_fraction_says(neurons):
    pattern = np.asarray(patterns.spins(KEY, 1, neurons)[0])

    def flipped(fraction, key):
        return patterns.flip(key, pattern, fraction)

    keys = jax.random.split(KEY, 20)
    both = jax.jit(jax.vmap(jax.vmap(flipped, (None, 0)), (0, None)))
    state, known = map(np.asarray, both(jnp.asarray(FRACTIONS), keys))
    for row, fraction in enumerate(FRACTIONS):
        count = round(fraction * neurons)
        np.testing.assert_array_equal(np.sum(state[row] != pattern[None], axis=1), count)
        np.testing.assert_array_equal(known[row], state[row] == pattern[None])
        np.testing.assert_allclose(np.mean(state[row] * pattern[None], axis=1), 1 - 2 * count / neurons, atol=1e-15)
        alone = patterns.flip(keys[0], pattern, fraction)
        np.testing.assert_array_equal(alone.state, state[row, 0])


def test_flips_without_double_precision_are_as_many():
    with jax.enable_x64(False):
        for neurons, fraction in [(100, 0.15), (4000, 0.0125)]:
            known = jax.jit(patterns.flip)(KEY, jnp.ones(neurons), fraction).known
            assert int(jnp.sum(~known)) == round(fraction * neurons)


def test_every_unit_is_flipped_equally_often():
    keys = jax.random.split(KEY, 4000)
    flipped = ~np.asarray(jax.jit(jax.vmap(lambda key: patterns.flip(key, jnp.ones(20), 0.3).known))(keys))
    assert np.max(standard_errors(flipped, 0.3)) < 4
    # Two given units, 6 of 20 flipped: both are with probability 6·5/(20·19).
    assert standard_errors(flipped[:, 3] & flipped[:, 4], 30 / 380) < 4


def test_a_larger_fraction_corrupts_a_superset():
    few, many = (patterns.flip(KEY, jnp.ones(50), fraction).known for fraction in (0.2, 0.5))
    assert bool(jnp.all(few | ~many))


@pytest.mark.parametrize("fraction", [-0.5, 1.5])
def test_a_traced_fraction_is_clipped(fraction):
    state = jax.jit(lambda f: patterns.flip(KEY, jnp.ones(9), f).state)(fraction)
    np.testing.assert_array_equal(state, np.full(9, 1.0 if fraction < 0 else -1.0))


@pytest.mark.parametrize("fill", [0.0, 0.5, "random"], ids=str)
@pytest.mark.parametrize("region", patterns.REGIONS)
def test_masks_hide_exactly_their_share_and_nothing_else(region, fill):
    pattern = np.asarray(patterns.gaussian(KEY, 1, 64)[0])
    hide = jax.jit(lambda f: patterns.mask(KEY, pattern, f, fill=fill, region=region))
    state, known = map(np.asarray, hide(0.4))
    assert np.sum(~known) == round(0.4 * 64)
    np.testing.assert_array_equal(state[known], pattern[known])
    if fill == "random":
        assert set(np.unique(state[~known])) == {-1.0, 1.0}
    else:
        np.testing.assert_array_equal(state[~known], fill)


def test_lower_and_upper_masks_hide_the_rows_of_an_image():
    image = jnp.arange(1.0, 17.0).reshape(4, 4)
    lower = patterns.mask(None, image.ravel(), 0.5, region="lower").state.reshape(4, 4)
    upper = patterns.mask(None, image.ravel(), 0.25, region="upper").state.reshape(4, 4)
    np.testing.assert_array_equal(lower, image.at[2:].set(0.0))
    np.testing.assert_array_equal(upper, image.at[:1].set(0.0))


def test_random_signs_are_unrelated_to_the_pattern():
    pattern = patterns.spins(KEY, 1, 2000)[0]
    state, known = patterns.mask(KEY, pattern, 0.5, fill="random")
    assert abs(float(jnp.sum(jnp.where(known, 0.0, state * pattern)))) < 4 * math.sqrt(1000)


def test_noise_has_its_standard_deviation_and_leaves_nothing_known():
    state, known = jax.jit(patterns.noise)(KEY, jnp.full(20000, 2.0), 0.3)
    assert not np.any(known)
    assert scipy.stats.kstest((np.asarray(state) - 2.0) / 0.3, "norm").pvalue > 1e-3


@pytest.mark.parametrize("kind", patterns.KINDS)
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64], ids=lambda dtype: dtype.__name__)
def test_corrupting_nothing_changes_nothing_and_keeps_the_dtype(kind, dtype):
    pattern = patterns.gaussian(KEY, 1, 12, dtype=dtype)[0]
    state, _ = patterns.corrupt(KEY, pattern, kind, 0.0)
    assert state.dtype == dtype
    np.testing.assert_array_equal(state, pattern)
    assert patterns.corrupt(KEY, pattern, kind, 0.5).state.dtype == dtype


def test_integer_states_become_floats():
    state = patterns.flip(KEY, jnp.asarray([1, -1, 1, -1]), 1.0).state
    assert state.dtype == jnp.float64
    np.testing.assert_array_equal(state, [-1, 1, -1, 1])


@pytest.mark.parametrize(
    ("kind", "direct"),
    [
        ("flip", lambda state: patterns.flip(KEY, state, 0.25)),
        ("mask", lambda state: patterns.mask(KEY, state, 0.25, fill="random")),
        ("lower", lambda state: patterns.mask(KEY, state, 0.25, fill="random", region="lower")),
        ("noise", lambda state: patterns.noise(KEY, state, 0.25)),
    ],
    ids=patterns.KINDS,
)
def test_corrupt_is_the_corruption_it_names(kind, direct):
    state = patterns.spins(KEY, 1, 40)[0]
    by_name, by_call = patterns.corrupt(KEY, state, kind, 0.25, fill="random"), direct(state)
    np.testing.assert_array_equal(by_name.state, by_call.state)
    np.testing.assert_array_equal(by_name.known, by_call.known)


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


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("flop:0.2", "kind one of flip, mask, lower, noise, got 'flop:0.2'"),
        ("mask", "a number or kind:number"),
        ("mask:", "a number or kind:number"),
        ("flip:much", "a number or kind:number"),
        ("flip:nan", "a number or kind:number"),
        ("", "a number or kind:number"),
        (None, "a number or kind:number"),
        (True, "a number or kind:number"),
        ("flip:1.5", r"a fraction in \[0, 1\] after flip, got 'flip:1.5'"),
        (-0.1, r"a fraction in \[0, 1\] after flip, got -0.1"),
        ("mask:inf", r"a fraction in \[0, 1\] after mask"),
        ("noise:-1", "a finite standard deviation of at least 0 after noise"),
        ("noise:inf", "a finite standard deviation of at least 0 after noise"),
    ],
)
def test_bad_corruptions_are_named(spec, message):
    with pytest.raises(ValueError, match=message):
        patterns.corruption(spec)

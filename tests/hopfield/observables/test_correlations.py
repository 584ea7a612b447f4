"""Correlation times: against the closed form of an autoregressive series, and what its error is worth."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.observables.correlations import correlation_time, split_rhat


def autoregressive(kept: float, length: int, draws: int) -> jax.Array:
    """x' = kept·x + noise, at rest from the start: τ = ½ (1 + kept)/(1 − kept)."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(draws, length))
    x[:, 0] /= np.sqrt(1 - kept**2)
    for t in range(1, length):
        x[:, t] += kept * x[:, t - 1]
    return jnp.asarray(x + 100.0)


@pytest.mark.parametrize("kept", [0.0, 0.6, 0.9])
def test_the_time_of_an_autoregressive_series_is_that_of_its_closed_form(kept: float) -> None:
    """100 series of 200 τ and more: no bias beyond the window's, e^(−6) of τ, and an error that is their spread."""
    found = jax.jit(jax.vmap(correlation_time))(autoregressive(kept, 2000, 100))
    exact = (1 + kept) / (1 - kept) / 2
    times = np.asarray(found.time)
    assert abs(times.mean() - exact) < 4 * times.std() / 10 + np.exp(-6) * exact
    assert np.mean(found.stderr) == pytest.approx(times.std(), rel=0.3)
    assert np.all(np.asarray(found.window) >= 1)


@pytest.mark.parametrize(("one", "two"), [(-0.3, 0.0), (-0.5, 0.0), (-0.8, 0.0), (0.0, -0.5), (0.3, -0.6)])
def test_correlations_that_change_sign_leave_a_time_and_an_error(one: float, two: float) -> None:
    """x' = one·x + two·x before + noise: its spectrum at frequency 0, and the spread of 200 series."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 4200))
    for t in range(2, 4200):
        x[:, t] += one * x[:, t - 1] + two * x[:, t - 2]
    found = jax.jit(jax.vmap(correlation_time))(jnp.asarray(x[:, 200:]))
    rho = one / (1 - two)
    exact = 0.5 * (1 - one * rho - two * (one * rho + two)) / (1 - one - two) ** 2
    times = np.asarray(found.time)
    assert abs(times.mean() - exact) < 4 * times.std() / np.sqrt(200)
    assert np.mean(found.stderr) == pytest.approx(times.std(), rel=0.3)


def test_what_goes_to_and_fro_cancels() -> None:
    found = correlation_time(jnp.array([1.0, -1.0] * 50))
    assert 0 <= found.time < 1e-6
    assert 0 <= found.stderr < 1e-6


def test_chains_that_agree_have_a_rhat_of_one_and_others_do_not():
    """Normal scores in C halves of S each have R̂² − 1 ≈ (χ²/(C − 1) − 1)/S. A shift, another width or a drift shows."""
    rng = np.random.default_rng(5)
    alike = rng.normal(size=(4, 500))
    assert split_rhat(jnp.asarray(alike)) < 1.01
    assert split_rhat(jnp.asarray(np.exp(alike))) == pytest.approx(float(split_rhat(jnp.asarray(alike))), abs=0.005)
    shift, widths = np.array([[0], [0], [0], [1]]), np.array([[1], [1], [1], [3]])
    for other in (alike + shift, alike * widths, alike + np.linspace(0, 2, 500)):
        assert split_rhat(jnp.asarray(other)) > 1.02

"""Correlations in time: how long an observable of a sampled network remembers itself, and whether chains agree."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int

from hopfield._arguments import positive_scalar, real_array, real_vector
from hopfield._arrays import Scalar
from hopfield._numerics import largest, power_of_two, wide


class CorrelationTime(NamedTuple):
    """Integrated autocorrelation time in steps of a series, its standard error, and the lag it was summed to.

    Example:
        >>> from hopfield.observables import correlations
        >>> found = correlations.correlation_time(jax.random.normal(jax.random.key(0), (4000,)))
        >>> 0.4 < float(found.time) < 0.6  # ½ where no step remembers another
        True
    """

    time: Scalar
    stderr: Scalar
    window: Int[Array, ""]


def correlation_time(series: Float[Array, "T"], *, factor: float = 6.0) -> CorrelationTime:
    """τ = ½ + Σ_{t=1}^W ρ(t) of a stationary series, W the first lag with W ≥ factor·τ(W).

    The mean of the series has the variance 2τ/T of one of its entries. The mean is taken from the series itself, so
    that τ is raised by a share (2W + 1)/T (Wolff 2004, eq. 49). Where ρ(1) < 0 or τ < ¼ correlations change sign: W is
    then taken from |ρ|, for sums of two entries where ρ(1) < 0, and the error from the spectrum about frequency 0. A
    series much shorter than 50 τ says little; one that does not vary, or whose sum comes out below 0, has no τ (NaN).

    Args:
        series: [T], its entries one step apart, at rest from the first on.
        factor: window in units of τ, positive; 5 to 10 where ρ falls exponentially.
    Returns:
        τ, its error, τ √(2 (2W + 1)/T) where correlations do not change sign, and W.
    Source: Madras & Sokal 1988, appendix C; Wolff 2004 (hep-lat/0306017).
    """
    series = real_vector("series", series)
    if series.size < 2:
        raise ValueError(f"series must have at least two entries, got {series.size}")
    return _correlation_time(series, jnp.asarray(positive_scalar("factor", factor)))


@jax.jit
def _correlation_time(series: Array, factor: ArrayLike) -> CorrelationTime:
    x = wide(series)
    x = x - x[0]  # of one value the rest is then zero, not rounding
    x = x / power_of_two(largest(jnp.abs(x)))  # whose squares neither overflow nor vanish
    covariance, _ = _covariance(x)
    kept = covariance / covariance[0]
    window = _window(kept, factor)
    share = (2 * window + 1) / x.size
    time = (jnp.cumsum(kept) - 0.5)[window] * (1 + share)
    windowed = CorrelationTime(time, time * jnp.sqrt(2 * share), window)
    if x.size < 4:
        return _nan_below_zero(windowed)
    window = _window(jnp.abs(kept), factor)
    time_wide, error = _integrated_time(x, window)
    other = CorrelationTime(time_wide, error, window)
    # Steps that go to and fro cancel in sums of two, whose mean is that of the series.
    pairs, window = x[: x.size // 2 * 2].reshape(-1, 2).sum(axis=1), jnp.minimum((window + 1) // 2, x.size // 2 - 1)
    share = 0.5 * _covariance(pairs)[0][0] / covariance[0]
    time_of_two, error = (jnp.where(share == 0, 0.0, share * value) for value in _integrated_time(pairs, window))
    other = jax.tree.map(partial(jnp.where, kept[1] < 0), CorrelationTime(time_of_two, error, 2 * window), other)
    return _nan_below_zero(jax.tree.map(partial(jnp.where, (kept[1] < 0) | (time < 0.25)), other, windowed))


def split_rhat(chains: Float[Array, "C S"]) -> Scalar:
    """R̂ of an observable in several chains: 1 where they cannot be told apart, above 1.01 where they are not mixed.

    Every chain is cut in two. Values become the normal scores of their ranks, and of the ranks of their distances from
    the median; R̂ is the larger of the two √((S − 1)/S + B/(S W)), of variances B/S of the means and W within the
    halves.

    Args:
        chains: [C, S], at least four steps of each.
    Source: Vehtari, Gelman, Simpson, Carpenter & Bürkner, Bayesian Analysis 16, 667 (2021), eqs. 4, 14.
    """
    rows = wide(real_array("chains", chains))
    if rows.ndim != 2 or rows.shape[1] < 4:
        raise ValueError(f"chains must be [C, S] with at least four steps, got shape {rows.shape}")
    return _split_rhat(rows)


@jax.jit
def _split_rhat(chains: Float[Array, "C S"]) -> Scalar:
    half = chains.shape[1] // 2
    halves = jnp.concatenate([chains[:, :half], chains[:, -half:]])

    def rhat(values: Array) -> Array:
        ranks = jax.scipy.stats.rankdata(values).reshape(values.shape)
        scores = jax.scipy.special.ndtri((ranks - 0.375) / (values.size + 0.25))
        within = jnp.mean(jnp.var(scores, axis=1, ddof=1))
        return jnp.sqrt((half - 1) / half + jnp.var(jnp.mean(scores, axis=1), ddof=1) / within)

    found = jnp.maximum(rhat(halves), rhat(jnp.abs(halves - jnp.median(halves))))
    return jnp.where(jnp.any(jnp.isnan(chains)), jnp.nan, found)


def _nan_below_zero(estimate: CorrelationTime) -> CorrelationTime:
    """A time and its error, NaN where their sum came out below 0."""
    lost = estimate.time < 0
    return estimate._replace(
        time=jnp.where(lost, jnp.nan, estimate.time), stderr=jnp.where(lost, jnp.nan, estimate.stderr)
    )


def _covariance(x: Float[Array, "T"]) -> tuple[Float[Array, "T"], Float[Array, "..."]]:
    """Covariance of entries by the number of steps between them, and the power at frequencies 0, π/T, …, π."""
    length, x = x.size, x - jnp.mean(x)
    power = jnp.abs(jnp.fft.rfft(x, 2 * length)) ** 2
    return jnp.fft.irfft(power, 2 * length)[:length] / (length - jnp.arange(length)), power / length


def _window(correlations: Float[Array, "T"], factor: ArrayLike) -> Int[Array, ""]:
    lags = jnp.arange(correlations.size)
    enough = (lags >= factor * (jnp.cumsum(correlations) - 0.5)) & (lags > 0)
    return jnp.where(jnp.any(enough), jnp.argmax(enough), correlations.size - 1)


def _integrated_time(x: Float[Array, "T"], window: Array) -> tuple[Scalar, Scalar]:
    """τ of correlations of either sign, and its error √(2 ⟨(K − τ)² f²⟩/T) over frequencies.

    f is the spectrum, K(λ) = ½ + Σ_{t=1}^W cos λt; the power itself has a second moment of 2 f².
    """
    covariance, power = _covariance(x)
    lags = jnp.arange(x.size)
    variance = jnp.where(covariance[0] == 0, 1.0, covariance[0])
    time = (jnp.sum(jnp.where(lags <= window, covariance, 0.0)) / variance - 0.5) * (1 + (2 * window + 1) / x.size)
    kernel = jnp.fft.rfft(jnp.where(lags <= window, 1.0, 0.0).at[0].set(0.5), 2 * x.size).real
    spread = jnp.sqrt(jnp.mean(((kernel - time) * power / variance) ** 2) / x.size)
    return time, spread

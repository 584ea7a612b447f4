"""Correlations in time: how long an observable of a sampled network remembers itself."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from hopfield._checks import vector
from hopfield._numerics import largest, positive, power_of_two, wide

Scalar = Float[Array, ""]


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

    The mean of the series has the variance 2τ/T of one of its entries. As the mean is that of the series itself, τ is
    raised by its part (2W + 1)/T (Wolff 2004, eq. 49). A series much shorter than 50 τ says little; one that does not
    vary has no τ (NaN).

    Args:
        series: [T], its entries one step apart, at rest from the first on.
        factor: window in units of τ, positive; 5 to 10 where ρ falls exponentially.
    Returns:
        τ, its error τ √(2 (2W + 1)/T), and W.
    Source: Madras & Sokal 1988, appendix C; Wolff 2004 (hep-lat/0306017).
    """
    series = vector("series", series)
    if series.size < 2:
        raise ValueError(f"series must have at least two entries, got {series.size}")
    return _correlation_time(series, jnp.asarray(positive("factor", factor)))


@jax.jit
def _correlation_time(series, factor) -> CorrelationTime:
    length, x = series.size, wide(series)
    x = x - x[0]  # of one value the rest is then zero, not rounding
    x = x / power_of_two(largest(jnp.abs(x)))  # whose squares neither overflow nor vanish
    x = x - jnp.mean(x)
    power = jnp.abs(jnp.fft.rfft(x, 2 * length)) ** 2
    covariance = jnp.fft.irfft(power, 2 * length)[:length] / (length - jnp.arange(length))
    times = jnp.cumsum(covariance / covariance[0]) - 0.5
    lags = jnp.arange(length)
    enough = (lags >= factor * times) & (lags > 0)
    window = jnp.where(jnp.any(enough), jnp.argmax(enough), length - 1)
    share = (2 * window + 1) / length
    time = times[window] * (1 + share)
    return CorrelationTime(time, time * jnp.sqrt(2 * share), window)

"""Overlap sampling: one step of exponential memories with e^(αN) random spin patterns, from shells of overlap.

Other patterns enter through the numbers of patterns at each overlap with the state alone. These numbers are drawn
from their multinomial law, with the binomial probabilities of an overlap: exactly up to 2^62 patterns; beyond,
each shell on its own as a Poisson variable, or a normal one where more than 10^15 patterns are expected. Leaving out
that the numbers add up to M, and the normal law, change a shell by less than 10^−7 of its standard deviation. Nothing
else is approximated, at no size.

    weight of the own pattern   p = 1 / (1 + Σ_k C_k e^(β(s_k − own)))
    field on a spin             e^(β own′) ξ + Σ_k D_k e^(β s′_k),  D_k = C_k(+) − C_k(−), own spin excluded
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import expit, gammaln

from hopfield._arguments import integer, real_scalar

EXACT = 2**62
"""Largest whole number of patterns that numpy's multinomials take."""
CERTAIN = 1e15
"""Expected patterns in a shell from where their number is drawn from a normal law."""


class Trials(NamedTuple):
    """Results of T queries of typical patterns after one step."""

    target_weight: np.ndarray
    """Softmax weight p of the own pattern [T]."""
    log_odds: np.ndarray
    """ln p / (1 − p), which tells weights next to 0 and 1 apart [T]."""
    entropy: np.ndarray
    """Entropy of the weights in nats [T]."""
    wrong: np.ndarray
    """True if a spin chosen at random differs from the pattern after a step of the sign rule, own spin excluded [T]."""


def sample(
    neurons: int,
    log_patterns: float,
    *,
    beta: float = 1.0,
    flipped: int = 0,
    trials: int = 1,
    seed: int | Sequence[int] = 0,
) -> Trials:
    """Sample of what one step shows for typical patterns, each with M − 1 fresh random others.

    Args:
        neurons: N, at least 2.
        log_patterns: ln M, at least 0 and at most 10 N; M is rounded to a whole number up to 2^62.
        beta: inverse temperature in exp(β ξ·x), > 0.
        flipped: wrong spins in the start, 0 to N.
        trials: T, at least 1.
        seed: one number of at least 0, or several.

    Raises:
        ValueError: an argument out of its range.
    """
    neurons, flipped, trials = integer("neurons", neurons, 2), integer("flipped", flipped, 0), integer("trials", trials)
    real_scalar("log_patterns", log_patterns, "from 0 to 10 N", 0.0, 10.0 * neurons)
    real_scalar("beta", beta, "positive and finite", np.finfo(float).tiny)
    if flipped > neurons:
        raise ValueError(f"flipped must be from 0 to N, got {flipped}")
    parts = list(seed) if isinstance(seed, Sequence) else [seed]
    rng = np.random.default_rng([integer("seed", part, 0) for part in parts])
    log_odds, entropy = _weights(rng, neurons, log_patterns, beta, neurons - 2 * flipped, trials)
    return Trials(
        expit(log_odds), log_odds, entropy, _sample_wrong_fields(rng, neurons, log_patterns, beta, flipped, trials)
    )


def _log_binomial(neurons: int) -> tuple[np.ndarray, np.ndarray]:
    """Overlaps N − 2k of a random pattern with any state and their log-probabilities [N + 1]."""
    k = np.arange(neurons + 1)
    log_count = gammaln(neurons + 1) - gammaln(k + 1) - gammaln(neurons - k + 1)
    return (neurons - 2 * k).astype(float), log_count - neurons * math.log(2)


def _number_of_others(log_patterns: float) -> tuple[int | None, float]:
    """M − 1 as a whole number, None if too large for one, and its logarithm."""
    if log_patterns <= math.log(EXACT):
        others = max(0, round(math.exp(log_patterns)) - 1)
        return others, math.log(others) if others else -math.inf
    return None, log_patterns


def _log_numbers(rng: np.random.Generator, others: int | None, log_mean: np.ndarray, trials: int) -> np.ndarray:
    """Logarithms of the numbers of patterns in cells of given log-expectation [T, K], −∞ for empty cells."""
    if others is not None:
        share = np.exp(log_mean - np.logaddexp.reduce(log_mean))
        return _log(rng.multinomial(others, share / share.sum(), size=trials).astype(float))
    few = _log(rng.poisson(np.exp(np.minimum(log_mean, math.log(CERTAIN))), size=(trials, log_mean.size)).astype(float))
    relative = np.exp(-0.5 * np.maximum(log_mean, math.log(CERTAIN))) * rng.standard_normal((trials, log_mean.size))
    return np.where(log_mean < math.log(CERTAIN), few, log_mean + np.log1p(relative))


def _log(number: np.ndarray) -> np.ndarray:
    return np.log(number, out=np.full(number.shape, -np.inf), where=number > 0)


def _weights(
    rng: np.random.Generator, neurons: int, log_patterns: float, beta: float, target: float, trials: int
) -> tuple[np.ndarray, np.ndarray]:
    overlaps, log_share = _log_binomial(neurons)
    others, log_others = _number_of_others(log_patterns)
    log_number = np.full((trials, neurons + 1), -np.inf)
    if others != 0:
        log_number = _log_numbers(rng, others, log_others + log_share, trials)
    log_terms = log_number + beta * (overlaps - target)[None, :]
    log_odds = -np.logaddexp.reduce(log_terms, axis=1)
    log_z = np.logaddexp(0.0, -log_odds)
    rest = np.exp(log_terms - log_z[:, None])
    # −ln p of a single pattern of a shell: ln Z − β(s − target)
    entropy = np.exp(-log_z) * log_z + np.sum(rest * (log_z[:, None] - beta * (overlaps - target)[None, :]), axis=1)
    return log_odds, entropy


def _sample_wrong_fields(
    rng: np.random.Generator, neurons: int, log_patterns: float, beta: float, flipped: int, trials: int
) -> np.ndarray:
    """True if the field on one spin is wrong. The target's term is exact, and the other patterns are fair coins."""
    mistaken = rng.random(trials) < flipped / neurons
    overlaps, log_share = _log_binomial(neurons - 1)
    others, log_others = _number_of_others(log_patterns)
    sign, log_size = np.zeros((trials, neurons)), np.full((trials, neurons), -np.inf)
    if others != 0:
        sign, log_size = _differences(rng, others, log_others + log_share, trials)
    log_target = beta * (neurons - 2 * flipped + np.where(mistaken, 1, -1))
    log_terms = log_size + beta * overlaps[None, :]
    top = np.maximum(log_terms.max(axis=1), log_target)
    field = np.exp(log_target - top) + np.sum(sign * np.exp(log_terms - top[:, None]), axis=1)
    return np.where(field == 0, mistaken, field < 0)


def _differences(
    rng: np.random.Generator, others: int | None, log_mean: np.ndarray, trials: int
) -> tuple[np.ndarray, np.ndarray]:
    """Patterns per shell that agree with the target in one spin, less patterns that do not: signs and logs [T, K]."""
    half = log_mean - math.log(2)
    if others is not None:
        share = np.exp(half - np.logaddexp.reduce(log_mean))
        both = rng.multinomial(others, np.concatenate([share, share]) / (2 * share.sum()), size=trials).astype(float)
        few = both[:, : half.size] - both[:, half.size :]
        return np.sign(few), _log(np.abs(few))
    counted = rng.poisson(np.exp(np.minimum(half, math.log(CERTAIN))), size=(2, trials, half.size)).astype(float)
    few, normal = counted[0] - counted[1], rng.standard_normal((trials, half.size))
    small = half < math.log(CERTAIN)
    log_normal = _log(np.abs(normal)) + 0.5 * (math.log(2) + half)
    return np.where(small, np.sign(few), np.sign(normal)), np.where(small, _log(np.abs(few)), log_normal)

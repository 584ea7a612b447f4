"""Fast-weight memories: the share of keys that find their value in S = Σ k_μ v_μᵀ, at finite size.

Keys and values are random unit vectors. A key k_μ reads r = b_μ v_μ + Σ_ν b_ν v_ν with the b that the rule leaves it;
its value is found if no other stored one has a larger product with r. In units of b_μ the own score is 1 + c·v_μ with
c = Σ_ν b_ν v_ν, any other is b_σ + v_σ·(v_μ + c), so that all depends on the noise ρ² = Σ_ν b_ν² / b_μ²:

    outer            ρ² = (n − 1)/D                                       half found at D V ≈ 2 n ln n for n → ∞
    pseudo_inverse   ρ² = (n − D)/D, the least that any matrix can have on average; 0 for n ≤ D
    delta, decay     of a pair that m later pairs have followed, in closed form to leading order in 1/D

Source: the scaling D² ∝ n ln n of the outer product, Barnfield et al. 2026 (arXiv:2605.05189); the rest from
the definitions above.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh_tridiagonal
from scipy.optimize import brentq
from scipy.special import roots_legendre

from hopfield._arguments.host import Float, plain, real, reals, whole_number, whole_numbers
from hopfield._arguments.words import one_of

Rule = Literal["outer", "delta", "pseudo_inverse"]
RULES: tuple[Rule, ...] = get_args(Rule)
_SQUARES, _LENGTHS, _AGES = 3, 8, 4
"""Nodes of the averages over Σ b², over |c| and over the age of a pair, in each panel."""
_LOST = 10
"""Lifetimes of a pair after which its signal, e⁻²⁰, counts as nothing."""


class _Noise(NamedTuple):
    """Σ b² in units of b_μ²: its mean and relative variance, and the dimensions of the sphere that b_σ is drawn on."""

    mean: float
    spread: float
    freedom: float


def key_found(
    neurons: ArrayLike,
    num_patterns: ArrayLike,
    rule: Rule | str = "outer",
    *,
    values: ArrayLike | None = None,
    decay: ArrayLike = 1.0,
) -> Float:
    """Probability that a typical key finds its value among all n stored.

    Exact up to about 2/D² for the outer product and the pseudo-inverse, and 2 in 10⁴ of itself, where V ≥ D; values of
    few components lean on each other, and it is 0.02 off at V = 3. For the delta rule, and where older pairs fade, the
    noise is averaged over keys.

    Args:
        neurons: D ≥ 3, the width of keys.
        num_patterns: n ≥ 1 pairs; up to three are taken as found.
        rule: "outer", "delta" (each pair written over what its key reads) or "pseudo_inverse" (least squares).
        values: width V ≥ 3 of values; D if None.
        decay: factor on everything before each write, in (0, 1]; not for the pseudo-inverse.
    Raises:
        ValueError: a number out of range, an unknown rule, or a decay with the pseudo-inverse.
    """
    one_of("rule", rule, RULES)
    keys, count = whole_numbers("neurons", neurons, least=3), reals("num_patterns", num_patterns, least=1)
    wide = keys if values is None else whole_numbers("values", values, least=3)
    fade = reals("decay", decay, above=0, most=1)
    if rule == "pseudo_inverse" and np.any(fade < 1):
        raise ValueError(f"decay must be 1 for pseudo_inverse, got {decay}")
    return plain(np.vectorize(_found_probability, otypes=[float], excluded={4})(keys, wide, count, fade, rule))


def capacity(neurons: int, rule: Rule | str = "outer", *, values: int | None = None, decay: float = 1.0) -> float:
    """Number of pairs n, as a real number, at which a typical key is found with probability ½.

    Arguments as for `key_found`.
    """
    neurons = whole_number("neurons", neurons, least=3)
    wide = neurons if values is None else whole_number("values", values, least=3)
    decay = real("decay", decay, above=0, most=1)

    def excess(log_pairs: float) -> float:
        return float(key_found(neurons, np.exp(log_pairs), rule, values=wide, decay=decay)) - 0.5

    log_pairs: Any = brentq(excess, np.log(2.0), np.log(40.0 * float(neurons) * wide), xtol=1e-6)
    return float(np.exp(log_pairs))


def _found_probability(width: float, wide: float, count: float, decay: float, rule: Rule | str) -> float:
    shape = 2 * (width - 1) / (width + 2)
    if rule == "pseudo_inverse":
        if count <= width:
            return 1.0
        # b_μ is a leverage: its mean is D/n, the inverse of it fluctuates as in a fit of n − D degrees of freedom.
        spread = min(shape / (count - width), 1.0)
        noise = count / width * (1 + spread * ((count - width) / count) ** 2) - 1
        return _at_noise(_Noise(noise, spread, count - 1), wide, count)
    spread = shape / (count - 1) if count > 1 else 0.0
    if rule == "outer" and decay == 1:
        return _at_noise(_Noise((count - 1) / width, spread, width), wide, count)
    later, weight = _ages(count, 1 / (1 - decay * _kept_factor(width, rule == "delta")))
    noises = [_Noise(_noise_at_age(width, count, age, decay, rule == "delta"), spread, width) for age in later]
    return float(weight @ [_at_noise(noise, wide, count) for noise in noises])


def _ages(count: float, lasting: float) -> tuple[Float, Float]:
    """Nodes and weights of the mean over n ages, as an integral from −½ to n − ½. Each panel is a lifetime `lasting`
    wide, since a pair is lost within a few of them."""
    node, weight = roots_legendre(_AGES)
    edges = np.append(np.arange(0, min(count, _LOST * lasting), lasting), count) - 0.5
    low, length = edges[:-1, None], np.diff(edges)[:, None]
    return (low + 0.5 * (node + 1) * length).ravel(), (0.5 * weight * length / count).ravel()


def _noise_at_age(width: float, count: float, later: float, decay: float, erasing: bool) -> float:
    """ρ² of a pair that `later` others have followed.

    Read backwards, the delta rule turns the key k into q ← q − k_ν (k_ν·q) at every write: |q|² falls by a factor
    1 − 1/D, and so does the own product k_μ·q.
    """
    keep = _kept_factor(width, erasing)
    since, before = keep * decay**2, count - 1 - later
    signal = (keep * decay) ** (2 * later)
    rest = keep**later * (1 - keep**later) if erasing else 1.0
    newer = _sum_of_powers(since, later) / width
    older = rest * decay ** (2 * later + 2) * _sum_of_powers(since, before) / width
    return (newer + older) / max(signal, 1e-12)  # a pair so faint is found by chance


def _kept_factor(width: float, erasing: bool) -> float:
    """Factor on the own product of a key at every later write, besides the decay."""
    return 1 - 1 / width if erasing else 1.0


def _sum_of_powers(base: float, count: float) -> float:
    """Σ base^j over j = 0 … count − 1, also for a count that is not whole."""
    return count if base == 1 else (1 - base**count) / (1 - base)


def _at_noise(noise: _Noise, wide: float, count: float) -> float:
    """E[P(another score < own)^(n−1)] over c·v_μ, |c| and Σ b², given which the other values are independent.

    Another value v_σ leans towards c: its density is e^(κ v_σ·c/|c|), κ = V b_σ |c| / (Σ b² − b_σ²), on the sphere.
    """
    if noise.mean <= 0 or count <= 3:
        return 1.0
    t, weight = _coordinate(int(wide), _own_nodes(count, wide))
    noises, likely = _gamma(noise.spread, _SQUARES)
    sizes, sized = _gamma(2 / wide, _LENGTHS)
    square = noise.mean * noises[:, None, None]
    length = np.sqrt(square * sizes[:, None])
    read = np.sqrt(1 + length**2 + 2 * length * t)
    along = (length + t) / read
    x, mass = _coordinate(max(int(noise.freedom), 3), 12)
    share = min(noise.freedom / (count - 1), 1.0)
    drawn = x * np.sqrt(square * share)
    pull = wide * drawn[..., None, :] * (length / square)[..., None] / (1 - x**2 * share)
    score = np.clip((1 + length * t) / read, -1, 1)[..., None]
    beyond = _beyond(score, pull * along[..., None], pull**2 * (1 - along**2)[..., None], wide) @ mass
    alone = np.exp((count - 1) * np.log1p(-np.clip(beyond, 0, 1 - 1e-12)))
    return float(np.einsum("ijk,i,j,k", alone, likely, sized, weight))


def _own_nodes(count: float, wide: float) -> int:
    """Number of nodes of the average over the own score. The best of n values lies a share 1/n of the sphere from its
    end, and the next one below it by a part of a deviation that falls with n."""
    return int(24 + 12 * np.log(max(count / 100, 1.0)) + 3 * count ** (1 / (wide - 1)))


def _beyond(score: Float, pull: Float, across: Float, wide: float) -> Float:
    """P(u > score) for the coordinate u of a unit vector that is pulled along it, and `across`² at right angles."""
    node, weight = roots_legendre(24)
    score = np.broadcast_to(score, pull.shape)[..., None]
    # All the mass lies within nine deviations of where the density is largest, the pull at right angles left out.
    rest = max(wide - 3.0, 1e-9)
    peak = (2 * pull / (rest + np.sqrt(rest**2 + 4 * pull**2)))[..., None]
    low = np.maximum(np.minimum(score, peak) - 9 / rest**0.5, -1.0)
    high = np.minimum(np.maximum(score, peak) + 9 / rest**0.5, 1.0)

    def terms(low: Float | float, high: Float | float) -> Float:
        """ln of density times weight at the nodes between two ends."""
        u = low + 0.5 * (high - low) * (node + 1)
        size = 0.5 * (wide - 3) * np.log1p(-u * u) + pull[..., None] * u - across[..., None] * u * u / (2 * wide)
        return size + np.log(weight * np.maximum(high - low, 1e-300))

    above, below = terms(score, high), terms(low, score)
    most = np.maximum(above.max(axis=-1), below.max(axis=-1))[..., None]
    beyond, within = (np.exp(part - most).sum(axis=-1) for part in (above, below))
    return beyond / (beyond + within)


def _gamma(spread: float, nodes: int) -> tuple[Float, Float]:
    """Nodes and weights of Gauss's rule for a gamma law of mean one and variance `spread` (generalised Laguerre)."""
    k, shape = np.arange(nodes), 1 / spread
    values, vectors = eigh_tridiagonal(2 * k + shape, np.sqrt(k[1:] * (k[1:] + shape - 1)))
    return values * spread, vectors[0] ** 2


@lru_cache(maxsize=32)
def _coordinate(width: int, nodes: int) -> tuple[Float, Float]:
    """Nodes and weights of Gauss's rule for one coordinate of a random unit vector, (1 − x²)^((D−3)/2) (Gegenbauer)."""
    k, half = np.arange(1, nodes), 0.5 * (width - 2)
    squares = k * (k + 2 * half - 1) / (4 * (k + half) * (k + half - 1))
    values, vectors = eigh_tridiagonal(np.zeros(nodes), np.sqrt(squares))
    return values, vectors[0] ** 2

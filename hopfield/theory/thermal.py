"""Retrieval at a temperature on the sphere ‖x‖² = N, of M = e^{αN} patterns: Gaussian ones, or on the sphere as well.

Energies per neuron by the overlap m = x·ξ/N with a pattern of norm √N, of sharpness b; both have slope −1 at m = 1:

    lse   E = −ln Σ_μ e^{b N m_μ} / b        −m where the pattern outweighs the others
    lsr   E = −N ln Σ_μ [1 − b + b m_μ]₊ / b − N   −1 − ln(1 − b + b m)/b, +∞ where m <= 1 − 1/b

Free energies are per neuron, and entropies that of the whole sphere less. There are three states, exact for N → ∞: at
one pattern (`free_energy`), at any of them (`patterns_free_energy`), and near none (`random_energy`), where overlaps
are those of a random-energy model. Gaussian patterns of norm r√N number e^{N(α − (r² − 1)/2 + ln r)}.

Source: Petrova, arXiv:2603.13350; Petrova, Polyachenko & State, arXiv:2604.07401. The random-energy model: Lucibello
and Mézard, arXiv:2304.14964. All patterns together are ours.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import quad
from scipy.optimize import brentq

from hopfield._arguments.host import Float, plain, real, reals, whole_number
from hopfield._arguments.words import one_of

Kernel = Literal["lse", "lsr"]
KERNELS: tuple[Kernel, ...] = get_args(Kernel)
Ensemble = Literal["gaussian", "sphere"]
ENSEMBLES: tuple[Ensemble, ...] = get_args(Ensemble)


def overlap(
    temperature: ArrayLike, kernel: Kernel | str = "lse", sharpness: ArrayLike = 1.0, norm: ArrayLike = 1.0
) -> Float:
    """Overlap m of the retrieval state for N → ∞, the least e(rm) − T ln(1 − m²)/2: −r e'(rm) = T m/(1 − m²).

    lse  m = (√(u² + 4) − u)/2, u = T/r
    lsr  m = (u (b − 1) + √(u² (b − 1)² + 4 (1 + T b)))/(2 (1 + T b)), and rm stays above 1 − 1/b

    Args:
        temperature: T >= 0.
        kernel: one of `KERNELS`.
        sharpness: b, above 0; lse has its state at any.
        norm: r, the pattern's norm over √N, above 0. The overlap is x·ξ/(rN), the cosine.
    """
    heat, b = reals("temperature", temperature, least=0), reals("sharpness", sharpness, above=0)
    scaled = heat / reals("norm", norm, above=0)
    if one_of("kernel", kernel, KERNELS) == "lse":
        return plain(2 / (np.sqrt(scaled**2 + 4) + scaled))
    linear = scaled * (b - 1)
    return plain((linear + np.sqrt(linear**2 + 4 * (1 + heat * b))) / (2 * (1 + heat * b)))


def mean_overlap(neurons: int, temperature: float, kernel: Kernel | str = "lse", sharpness: float = 1.0) -> float:
    """Mean overlap with one pattern that is stored alone, exact: ∫ m p(m), p ∝ (1 − m²)^{(N−3)/2} e^{−N e(m)/T}.

    Args:
        neurons: N >= 3.
        temperature: T > 0.
        kernel, sharpness: as for `overlap`.
    """
    heat, size = real("temperature", temperature, above=0), whole_number("neurons", neurons, least=3)
    top, b = float(overlap(heat, kernel, sharpness)), real("sharpness", sharpness, above=0)
    low = -1.0 if kernel == "lse" else max(-1.0, 1 - 1 / b)
    depth = (lambda m: m) if kernel == "lse" else (lambda m: np.log1p(b * (m - 1)) / b)
    log_weight = lambda m: 0.5 * (size - 3) * np.log1p(-m * m) + size * (depth(m) - depth(top)) / heat
    shift = log_weight(top)
    weight = lambda m: np.exp(log_weight(m) - shift)
    total, first = (quad(f, low, 1.0, points=[top], limit=200)[0] for f in (weight, lambda m: m * weight(m)))
    return first / total


def free_energy(
    temperature: ArrayLike, kernel: Kernel | str = "lse", sharpness: ArrayLike = 1.0, norm: ArrayLike = 1.0
) -> Float:
    """Free energy of the retrieval state of one pattern for N → ∞, e(rm) − T ln(1 − m²)/2 at its `overlap`.

    Arguments as for `overlap`; e(1) = −1, and −1/(2T) of lse at high temperatures.
    """
    heat, r, b = reals("temperature", temperature, least=0), reals("norm", norm, above=0), reals("sharpness", sharpness)
    m, cold = overlap(heat, kernel, sharpness, norm), heat < r
    # 1 − m² = T m/(−r e'(rm)): the product keeps its digits where it is small, the square where m is near 0.
    inside = np.ones_like(m) if kernel == "lse" else 1 - b + b * r * m
    room = np.where(cold, heat * m * inside / r, (1 - m) * (1 + m))
    log_room = np.where(cold, np.log(np.where(heat > 0, room, 1.0)), np.log1p(-(np.where(cold, 0.0, m) ** 2)))
    if kernel == "lse":
        return plain(-r * m - 0.5 * heat * log_room)
    inside = np.where(cold, inside, room * r / (np.where(cold, 1.0, heat) * m))
    return plain(-1 - np.log(inside) / b - 0.5 * heat * log_room)


def longest_norm(load: ArrayLike) -> Float:
    """Norm r of the longest of e^{αN} Gaussian patterns over √N: the root r >= 1 of (r² − 1)/2 − ln r = α.

    At T = 0 its state has the energy −r of lse: −1.33, −1.59 and −1.77 at α = .1, .3 and .5.

    Args:
        load: α >= 0.
    """
    alpha = np.maximum(reals("load", load, least=0), 1e-32)
    longer = 2 * alpha + 2 * np.sqrt(alpha * (alpha + 1))  # r² − 1, from above: Newton's steps fall to the root
    for _ in range(12):
        longer = longer - (longer - np.log1p(longer) - 2 * alpha) * (1 + longer) / longer
    return plain(np.sqrt(1 + longer))


def patterns_free_energy(
    load: ArrayLike,
    temperature: ArrayLike,
    kernel: Kernel | str = "lse",
    sharpness: ArrayLike = 1.0,
    ensemble: Ensemble | str = "gaussian",
) -> Float:
    """Free energy of the states at any of the M patterns together, each at its own, for N → ∞.

    sphere    f − T α, f the `free_energy` of each, as all have the same norm
    gaussian  the least f(r) − T (α − (r² − 1)/2 + ln r) over norms: of patterns whose number is exponential in N, at
              r² = 1 + a², a the root of −e'(a) = T a, where that is below the `longest_norm`, and of the longest alone
              otherwise, on which the states are condensed

    Where these states would fill the sphere, they are those near no pattern in whose energy the largest of random
    overlaps decides. In equilibrium the lower of this and `random_energy` is right. Arguments as for `overlap` and
    `random_energy`.
    """
    alpha, heat = reals("load", load, least=0), reals("temperature", temperature, least=0)
    b, r, rare, largest = reals("sharpness", sharpness, above=0), 1.0, alpha, _largest(alpha, ensemble)
    if ensemble == "gaussian":
        with np.errstate(divide="ignore"):
            along = 1 / heat if kernel == "lse" else (b - 1 + np.sqrt((b - 1) ** 2 + 4 * b / heat)) / (2 * b)
        longest = longest_norm(alpha)
        r = np.minimum(np.hypot(1, along), longest)
        rare = np.where(r < longest, alpha - _rarity(r), 0.0)
    m = overlap(heat, kernel, b, r)
    with np.errstate(divide="ignore", invalid="ignore"):
        full = rare + 0.5 * np.log((1 - m) * (1 + m)) > 0
        energy = -largest if kernel == "lse" else -1 - np.log(1 - b + b * largest) / b
    return plain(np.where(full, energy, free_energy(heat, kernel, b, r) - heat * rare))


def _rarity(norm: Float) -> Float:
    """−ln of the share of Gaussian patterns of a norm r√N, over N."""
    return (norm - 1) * (norm + 1) / 2 - np.log(norm)


def _largest(load: Float, ensemble: Ensemble | str) -> Float:
    """The largest of e^{αN} random overlaps, for N → ∞."""
    gaussian = one_of("ensemble", ensemble, ENSEMBLES) == "gaussian"
    return np.sqrt(2 * load) if gaussian else np.sqrt(-np.expm1(-2 * load))


def random_energy(load: ArrayLike, sharpness: ArrayLike = 1.0, ensemble: Ensemble | str = "gaussian") -> Float:
    """Energy of lse at a random point, which is the free energy of states near no pattern, for N → ∞.

    sphere    −α/b − t − ln(1 − t²)/(2b), t = (√(4b² + 1) − 1)/(2b), or −√(1 − e^{−2α}) where α < −ln(1 − t²)/2
    gaussian  −α/b − b/2, or −√(2α) where α < b²/2

    In the second case of each the largest of all overlaps decides, in the first exponentially many patterns.

    Args:
        load: α >= 0.
        sharpness: b, above 0.
        ensemble: one of `ENSEMBLES`.
    """
    alpha, b = reals("load", load, least=0), reals("sharpness", sharpness, above=0)
    frozen, shared = _frozen(b, ensemble)
    return plain(-np.where(alpha < frozen, _largest(alpha, ensemble), alpha / b + shared))


def _frozen(sharpness: Float, ensemble: Ensemble | str) -> tuple[Float, Float]:
    """Load below which the largest of random overlaps decides, and −E − α/b above it."""
    if one_of("ensemble", ensemble, ENSEMBLES) == "gaussian":
        return sharpness**2 / 2, sharpness / 2
    t = overlap(1 / sharpness)
    return -0.5 * np.log(t / sharpness), -free_energy(1 / sharpness)


def _load_of(depth: Float, sharpness: ArrayLike, ensemble: Ensemble | str) -> Float:
    """Load at which `random_energy` is −depth, a depth from 0 to 1."""
    b = reals("sharpness", sharpness, above=0)
    frozen, shared = _frozen(b, ensemble)
    with np.errstate(divide="ignore"):
        largest = depth**2 / 2 if ensemble == "gaussian" else -0.5 * np.log1p(-(depth**2))
    return plain(np.where(largest < frozen, largest, b * (depth - shared)))


def stable_load(temperature: ArrayLike, sharpness: ArrayLike = 1.0, ensemble: Ensemble | str = "gaussian") -> Float:
    """Load up to which lse has a retrieval state: the pattern outweighs the others there, −m < `random_energy`.

    At T = 0 that is the load α_1 of a typical pattern, `spherical.typical_load`: ½ for Gaussian patterns and b >= 1.

    Args:
        temperature: T >= 0.
        sharpness, ensemble: as for `random_energy`.
    """
    return _load_of(overlap(temperature), sharpness, ensemble)


def critical_load(temperature: ArrayLike, sharpness: ArrayLike = 1.0, ensemble: Ensemble | str = "gaussian") -> Float:
    """Load at which the state at one pattern of norm √N and states near none have equal free energies, lse, N → ∞.

    Gaussian patterns: ½ at T = 0 for b >= 1, and α ≈ 1/(8 T²) at high temperatures. Below it the state is not the
    lowest of all: the states at any pattern together are, `patterns_free_energy`, up to the `transition_load`.

    Args:
        temperature: T >= 0.
        sharpness, ensemble: as for `random_energy`.
    """
    return _load_of(-free_energy(temperature), sharpness, ensemble)


def transition_load(temperature: ArrayLike, sharpness: ArrayLike = 1.0, ensemble: Ensemble | str = "gaussian") -> Float:
    """Load at which states at any pattern and states near none have equal free energies, lse, N → ∞.

    Below it a state in equilibrium is at some pattern, above it at none. For T b >= 1 nothing jumps there:

    sphere    −ln(1 − m²)/2, the load at which the largest of random overlaps is that of the retrieval state
    gaussian  1/(2T²)

    For T b < 1 the states change discontinuously; there it is the load at which the two free energies are equal.

    Args:
        temperature: T >= 0.
        sharpness, ensemble: as for `random_energy`.
    """
    heat, b = np.broadcast_arrays(reals("temperature", temperature, least=0), reals("sharpness", sharpness, above=0))
    if one_of("ensemble", ensemble, ENSEMBLES) == "sphere":
        colder = np.where(heat * b < 1, heat, 0.0)
        jump = (free_energy(1 / b) - free_energy(colder)) / (1 / b - colder)
        with np.errstate(divide="ignore"):
            return plain(np.where(heat * b < 1, jump, -0.5 * np.log(heat * overlap(heat))))
    return plain(np.vectorize(_gaussian_transition, otypes=[float])(heat, b))


def _gaussian_transition(heat: float, b: float) -> float:
    if heat * b >= 1:
        return 1 / (2 * heat**2)
    many = np.hypot(1, 1 / heat) if heat > 0 else np.inf  # the norm of exponentially many, in equilibrium
    if heat > 0 and _rarity(np.asarray(many)) <= b / (2 * heat):
        return b / (2 * heat)
    apart = lambda r: float(free_energy(heat, norm=r) - random_energy(_rarity(r), b))
    return float(_rarity(np.asarray(brentq(apart, 1 + 1e-9, min(many, 2 * b + 3)))))


def support_load(sharpness: ArrayLike, ensemble: Ensemble | str = "gaussian") -> Float:
    """Load below which no other pattern is within the support of lsr, so that it retrieves at any T, for N → ∞.

    (1 − 1/b)²/2 for Gaussian patterns, −ln(1 − (1 − 1/b)²)/2 on the sphere. Above it the energy per neuron of states
    near no pattern is −∞, below it +∞: that is where the states at any pattern and near none change places, too.

    Args:
        sharpness: b, above 1.
        ensemble: one of `ENSEMBLES`.
    """
    reach = 1 - 1 / reals("sharpness", sharpness, above=1)
    if one_of("ensemble", ensemble, ENSEMBLES) == "gaussian":
        return plain(reach**2 / 2)
    return plain(-0.5 * np.log1p(-(reach**2)))

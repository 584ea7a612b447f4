"""Two claims of the documents beside a measurement: 0.14 N patterns for the classical network, e^(d/2) for attention.

    M/N         load at which half of the patterns are retained (asynchronous dynamics from the pattern, final overlap
                above 0.8, odd M) at each N, and extrapolated with N^(−2/3), one of the laws of the approach that
                conf=capacity_limit compares
    ln M/d      ln M₅₀ / d, M₅₀ the number of random patterns of squared norm d at which a typical one still has more
                than half of the softmax weight: in the state equal to it (`start`), where updates end (`converged`)
    d ln M/dd   slope of ln M₅₀ against d over these sizes, at the start: the exponent that e^(d/2) puts at 1/2

Theory of the exponent is α_1(λ) of a typical pattern for d → ∞, with β = λ for patterns of squared norm d. It depends
on λ and on the patterns, and is 1/2 for Gaussian ones with λ ≥ 1 alone. Theory of ln M/d is annealed, at that d; theory
of the load is replica-symmetric, N → ∞.

Source: Lucibello and Mézard 2024 (arXiv:2304.14964) for α_1; Amit, Gutfreund and Sompolinsky 1987.
"""

from collections.abc import Callable
from functools import cache, lru_cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

import hopfield.patterns
from experiments.shared import corruptions, draws, retention
from experiments.statistics.clusters import standard_error
from experiments.statistics.extrapolation import extrapolate
from experiments.statistics.lines import straight_line
from experiments.statistics.thresholds import critical_load
from experiments.worked_examples import printed
from hopfield import Memory, retrieve
from hopfield.memories import find
from hopfield.observables.overlaps import above
from hopfield.theory import classical, spherical

LOADS = {250: (0.15, 0.25), 500: (0.14, 0.22), 1000: (0.135, 0.2)}
CLASSICAL_QUERIES = 8
EXPONENT = 2 / 3
HALVINGS = 11
"""Halvings of the interval in which a converged query loses its pattern: to 1 in 2,000 patterns."""


DRAWS = {"target_weight": 64, "converged_weight": 24}
QUERIES = 16
MARGIN = {"target_weight": 2.0, "converged_weight": 0.0}
"""Logarithm of the number of patterns drawn, over α_1's: few queries keep their pattern to the last."""


class Measured(NamedTuple):
    """Measured value with its standard error and, if known, its theory."""

    value: float
    stderr: float
    theory: float | None


def measure_claim(seed: int, quantity: str, row: str) -> Measured:
    """Measurement of one row of `printed.claimed_numbers`. Rows with the same draws share them."""
    if quantity == "M/N":
        return _classical(seed)[row]
    name, _, size = row.partition(" d=")
    (case,) = (case for case in printed.CASES if case.name == name)
    return _size(seed, case, int(size)) if size else _exponent(seed, case)


@cache
def _classical(seed: int) -> dict[str, Measured]:
    limit = float(classical.spinodal().load)
    loads = {neurons: _retained_load(seed, neurons) for neurons in printed.SIZES}
    values, errors = zip(*loads.values(), strict=True)
    (fit,) = extrapolate(list(loads), values, errors, (EXPONENT,), free=False)
    found = {f"N={size}": Measured(*load, limit) for size, load in loads.items()}
    return found | {"N=inf": Measured(fit["load"], fit["stderr"], limit)}


def _retained_load(seed: int, neurons: int) -> tuple[float, float]:
    """Load at which half of the patterns of the classical network are retained, and its error over draws."""
    blueprint = find("classical")
    counts = [blueprint.rounded(load, neurons, "odd") for load in np.linspace(*LOADS[neurons], 6)]
    kind = retention.Program(
        memory="classical",
        dynamics="asynchronous",
        neurons=neurons,
        padding=max(counts),
        queries=CLASSICAL_QUERIES,
        corruption="none",
        ensemble="random",
        clamp=False,
        max_steps=100,
    )
    shared = {"neurons": neurons, "corruption": corruptions.CLEAN, "beta": None}
    points = [shared | {"patterns": count, "sample": i} for count in counts for i in range(printed.SIZES[neurons])]
    rows = list(retention.rows(seed, points, lambda point: kind))
    num_patterns, retained, samples = (
        np.array([row[name] for row in rows]) for name in ("patterns", "retained", "sample")
    )
    found = critical_load(num_patterns / neurons, retained, np.full(len(rows), CLASSICAL_QUERIES), samples)
    return found.value, found.stderr


def _size(seed: int, case: printed.Case, neurons: int) -> Measured:
    """ln M₅₀ / d at one size, with annealed theory on the sphere."""
    value, error = _log_patterns(seed, case, neurons)
    theory = None
    if case.ensemble == "sphere":
        theory = float(spherical.critical_load(neurons, case.beta * neurons, case.criterion))
    return Measured(value / neurons, error / neurons, theory)


def _exponent(seed: int, case: printed.Case) -> Measured:
    """Slope of ln M₅₀ against d, with α_1."""
    values, errors = np.transpose([_log_patterns(seed, case, size) for size in case.sizes])
    fit = straight_line(case.sizes, values, errors)
    return Measured(fit.slope, float(fit.covariance[1, 1] ** 0.5), _limit(case))


def _limit(case: printed.Case) -> float:
    return float(spherical.typical_load(case.beta, case.ensemble))


@cache
def _log_patterns(seed: int, case: printed.Case, neurons: int) -> tuple[float, float]:
    """ln M₅₀ of one case and size: the mean over draws of the median over their queries, with its error."""
    key = draws.key(seed, printed.CASES.index(case), neurons)
    most = round(np.exp(_limit(case) * neurons + MARGIN[case.criterion]))
    keys = jax.random.split(key, DRAWS[case.criterion])
    counts = np.asarray(_compiled(case, neurons, most)(keys), float)
    medians = np.median(np.log(counts), axis=1)
    return float(medians.mean()), standard_error(medians)


@lru_cache(maxsize=64)
def _compiled(case: printed.Case, neurons: int, most: int) -> Callable:
    """Program from keys of draws to the largest M [draws, queries] at which a query keeps its pattern."""
    last = {"target_weight": _last_at_start, "converged_weight": _last_converged}[case.criterion]

    def draw(key: Array) -> Array:
        patterns = getattr(hopfield.patterns, case.ensemble)(key, most, neurons)
        return jax.vmap(lambda i: last(patterns, i, case.beta))(jnp.arange(QUERIES))

    return jax.jit(lambda keys: jax.lax.map(draw, keys))


def _last_at_start(patterns: Array, target: Array, beta: float) -> Array:
    """Largest number of patterns at which the target has more than half of the weight, in the state equal to it."""
    scores = beta * (patterns @ patterns[target])
    others = jnp.where(jnp.arange(len(patterns)) == target, 0.0, jnp.exp(scores - scores[target]))
    return jnp.maximum(jnp.sum(jnp.cumsum(others) < 1), 1)


def _last_converged(patterns: Array, target: Array, beta: float) -> Array:
    """Largest number of patterns at which the target has more than half of the weight, where updates from it end."""
    index = jnp.arange(len(patterns))

    def is_kept(count: Array) -> Array:
        memory = Memory(patterns, beta, mask=(index < count) | (index == target))
        end = retrieve(memory, patterns[target], max_steps=100, rtol=1e-4).state
        return above(memory.weights(end)[target], 0.5)

    def halve(_: Array, ends: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = ends
        middle = (low + high) // 2
        holds = is_kept(middle)
        return jnp.where(holds, middle, low), jnp.where(holds, high, middle)

    low, _ = jax.lax.fori_loop(0, HALVINGS, halve, (jnp.asarray(1), jnp.asarray(len(patterns))))
    return low

"""Theory of any memory whose energy is a sum over random patterns, from its separation alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erf, erfcinv, erfinv

from hopfield._arguments.host import Float
from hopfield.theory import annealed, general
from hopfield.theory.averages import Ensemble
from hopfield.theory.base import Criterion, Theory, flips, numbers
from hopfield.theory.exponential import rate
from hopfield.theory.spherical import CRITERIA

LARGE = 2**20
"""Neurons at which a weight's exponent per neuron is read off, for N → ∞."""


class Parts(NamedTuple):
    """Parts of a memory of N neurons at an inverse temperature that theory needs to know."""

    summand: Callable[[Float], Float]
    """f of an array of scores, up to an increasing linear map."""
    log_weight: Callable[[Float], Float]
    """ln |f′| of an array of scores, up to a number."""
    score: Callable[[Float, float], Float]
    """Score per neuron of patterns of norm √N, of their overlaps t with the direction of a state of norm m √N."""


class Derived(Theory):
    """The exact one-step error and weights on spins, annealed weights elsewhere, and what they become for N → ∞.

    Assumptions: independent unbiased patterns; `retained` takes successive steps as uncorrelated, which they are for
    loads M/N^k with k >= 2 only, and is silent for the others.
    """

    def __init__(
        self,
        parts: Callable[[int, float | None], Parts],
        ensemble: Ensemble,
        load: Callable[[float, float], float] | None = None,
    ) -> None:
        """Theory of `parts(neurons, beta)` for patterns of an ensemble, loads α = load(M, N) if not the derived one."""
        self.parts, self.ensemble, self._load = parts, ensemble, load
        spins = {"one_step_error", "target_weight"}
        self.sized = frozenset(spins if ensemble == "spins" else CRITERIA)

    @cached_property
    def power(self) -> int | None:
        """k of the load M/N^k, 0 of ln M / N, by signal to noise on spins and by the weights elsewhere."""
        if self.ensemble == "spins":
            return general.load_power(lambda neurons: general.log_noise(neurons, self.parts(neurons, None).summand))
        return 0

    def load(self, num_patterns: float, neurons: int) -> float:
        """α of a number of patterns."""
        if self._load is not None:
            return self._load(num_patterns, neurons)
        return np.log(num_patterns) / neurons if not self.power else num_patterns / neurons**self.power

    def kind(self, criterion: Criterion) -> str | None:
        if self.ensemble != "spins":
            return "annealed"
        noise = "Gaussian noise" if self.power else "random energy"
        names = {"retained": "uncorrelated steps", "one_step_error": noise, "target_weight": "random energy"}
        return names.get(criterion)

    def critical_load(
        self,
        criterion: Criterion,
        *,
        neurons: int | None = None,
        corruption: float = 0.0,
        beta: float | None = None,
        cut: float = 0.8,
        error: float = 0.005,
    ) -> float | None:
        overlap = general.start_overlap(corruption)
        if self.ensemble != "spins":
            if criterion not in self.sized or corruption:
                return None
            return self._annealed_load(neurons, beta, criterion)
        if criterion == "target_weight" and neurons is not None:
            log_weight = self.parts(neurons, beta).log_weight
            log_others = general.weight_patterns(neurons, log_weight, int(flips(corruption, neurons)))
            return self.load(1 + float(np.exp(log_others)), neurons) if np.isfinite(log_others) else None
        if neurons is not None:
            return None
        if self.power == 0:
            return self._random_energy(criterion, beta, corruption)
        if criterion == "one_step_error" and corruption < 0.5 and self.power:
            quantile = np.sqrt(2) * erfcinv(2 * error)
            return float(self._signal(overlap) ** 2 / (quantile**2 * self._noise))
        clean = criterion == "retained" and not corruption
        return self._largest_load_at(cut) if clean and self.power and self.power > 1 else None

    def success(
        self,
        criterion: Criterion,
        neurons: int,
        num_patterns: ArrayLike,
        *,
        corruption: float = 0.0,
        beta: float | None = None,
    ) -> Float | None:
        if criterion != "target_weight" or self.ensemble != "spins" or general.start_overlap(corruption) < 0:
            return None
        log_weight, flipped = self.parts(neurons, beta).log_weight, int(flips(corruption, neurons))
        share = np.vectorize(lambda m: general.weight_probability(neurons, m, log_weight, flipped), otypes=[float])
        return numbers(share(num_patterns))

    def one_step_error(
        self, neurons: int, num_patterns: ArrayLike, *, corruption: float = 0.0, beta: float | None = None
    ) -> Float | None:
        general.start_overlap(corruption)
        if self.ensemble != "spins":
            return None
        summand, flipped = self.parts(neurons, beta).summand, int(flips(corruption, neurons))
        error = np.vectorize(lambda m: general.one_step_error(neurons, m, summand, flipped), otypes=[float])
        return numbers(error(num_patterns))

    def retained_overlap(self, load: ArrayLike) -> Float | None:
        """Largest fixed point of m ↦ erf(g(m)/√(2aα)), with g the signal at overlap m over the signal at m = 1."""
        if self.ensemble != "spins" or not self.power or self.power < 2:
            return None
        overlaps, loads = self._branch
        top, load = int(np.argmax(loads)), numbers(load)
        overlap = np.interp(load, loads[top:][::-1], overlaps[top:][::-1], left=1.0)
        return numbers(np.where(load <= loads[top], overlap, np.nan))

    @cached_property
    def _noise(self) -> float:
        """Variance of the crosstalk over the squared signal per unit of load, for N → ∞."""

        def inverse_load(neurons: int) -> float:
            noise = general.log_noise(neurons, self.parts(neurons, None).summand)
            return 1 / self.load(float(np.exp(-noise)), neurons)

        return general.limit(inverse_load)

    def _signal(self, overlap: ArrayLike) -> Float:
        """Signal at overlap m over the signal at m = 1, for N → ∞."""
        overlap = np.asarray(overlap, np.float64)
        log_sizes = self.parts(LARGE, None).log_weight(LARGE * np.append(overlap.ravel(), 1.0))
        return np.exp(log_sizes[:-1] - log_sizes[-1]).reshape(overlap.shape)

    @cached_property
    def _branch(self) -> tuple[Float, Float]:
        """Overlaps of retrieval states in ascending order and the loads they belong to."""
        overlaps = erf(np.linspace(0.2, 5.5, 40001))
        return overlaps, self._signal(overlaps) ** 2 / (2 * self._noise * erfinv(overlaps) ** 2)

    def _largest_load_at(self, cut: float) -> float:
        overlaps, loads = self._branch
        return float(np.max(loads[overlaps >= cut]))

    def _random_energy(self, criterion: Criterion, beta: float | None, corruption: float) -> float | None:
        """A sum of random signs is as large as the root of the sum of squares: its terms count twice in exponents."""
        times = {"target_weight": 1.0, "one_step_error": 2.0}.get(criterion)
        if times is None:
            return None
        return self._limit(beta, lambda t: float(rate(t)), 1 - 2 * corruption, times)

    def _limit(
        self, beta: float | None, log_rate: Callable[[float], float], target: float, times: float = 1.0
    ) -> float | None:
        """The random energy load, None unless the exponents of the weights per neuron have a limit."""

        def load(neurons: int) -> float:
            parts = self.parts(neurons, beta)
            exponent = lambda t: parts.log_weight(neurons * parts.score(np.array([t]), 1.0))[0] / neurons
            return general.random_energy_load(lambda t: times * float(exponent(t)), log_rate, target)

        limit = load(LARGE)
        return limit if limit > 0 and abs(load(LARGE // 16) - limit) < 1e-3 * limit else None

    def _annealed_load(self, neurons: int | None, beta: float | None, criterion: Criterion) -> float | None:
        if neurons is None:
            log_rate = lambda t: -0.5 * float(np.log1p(-(t**2)))  # of the sphere
            return self._limit(beta, log_rate, 1.0 - 1e-12) if self.ensemble == "sphere" else None
        parts = self.parts(neurons, beta)
        log_weight = lambda t, m: parts.log_weight(neurons * parts.score(t, m))
        return annealed.critical_load(neurons, log_weight, criterion, self.ensemble)

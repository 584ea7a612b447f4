"""Diagram of the modern network over ln M / N and β, which is iterated to its fixed point."""

from collections.abc import Callable
from math import exp, log
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments.phase_diagram.config import Modern as Options
from experiments.phase_diagram.diagrams.diagram import Diagram, Structure
from experiments.shared import convergence
from hopfield import retrieve
from hopfield.dynamics import STEP_LIMIT
from hopfield.dynamics.regimes import GLOBAL_AVERAGE, SINGLE_PATTERN
from hopfield.observables.stability import regime
from hopfield.theory import spherical


class Modern(Diagram):
    """Map whose cells are equal in ln β, with annealed lines."""

    words = ("retrieval", "other pattern", "metastable mixture", "global average")
    xlabel, ylabel, yscale = r"load $\alpha = \ln M / N$", r"inverse temperature $\beta$", "log"
    theory = "annealed: the sum over the other patterns at its mean, at the measured N"

    def temperatures(self, area: Options, lower: float, upper: float) -> tuple[float, float, float]:
        least, ratio = area.beta[0], log(area.beta[1] / area.beta[0])
        cold, warm = (1 / (least * exp(part * ratio)) for part in (upper, lower))
        return cold, (cold * warm) ** 0.5, warm

    def edges(self, cold: Any, warm: Any) -> tuple:
        return 1 / warm, 1 / cold, -np.log(warm), np.log(warm / cold)

    def work(self, neurons: int, num_patterns: int, sweeps: int) -> int:
        return 100 * num_patterns * neurons

    def query(self, program: Structure, build: Callable, stored: Array, used: Array, key: Array) -> Callable:
        """Deterministic updates from pattern i to a fixed point, whose weights say which patterns retain it."""

        def query(i: Array, temperature: Array) -> dict[str, Array]:
            memory = build(stored, mask=used, beta=1.0 / temperature)
            end = retrieve(memory, stored[i], max_steps=program.max_steps)
            found = regime(memory, end.state)
            single = jnp.where(found.index == i, 0, 1)
            spread = jnp.where(found.kind == GLOBAL_AVERAGE, 3, 2)
            return {
                "kind": jnp.where(found.kind == SINGLE_PATTERN, single, spread),
                "overlap": jnp.mean(end.state * stored[i]),
                "self_overlap": jnp.mean(end.state**2),
                "drift": jnp.zeros(()),
                "step_limit": end.status == STEP_LIMIT,
            }

        return query

    def retrieves(self, neurons: int, loads: np.ndarray, temperatures: np.ndarray) -> np.ndarray:
        return loads < spherical.critical_load(neurons, neurons / temperatures, "converged_weight")

    def lines(self, end: str, loads: np.ndarray, heights: np.ndarray, neurons: int) -> list[tuple]:
        """Annealed thresholds. At rest also the line above which the global average is unstable."""
        patterns, kappa = np.exp(loads * neurons), heights * neurons
        half, held = (spherical.critical_load(neurons, kappa, criterion) for criterion in spherical.CRITERIA)
        found = [
            (held, heights, f"retrieval ends, annealed, $N={neurons}$"),
            (half, heights, f"half weight at the start, annealed, $N={neurons}$"),
            (spherical.typical_load(heights), heights, r"the same, $N\to\infty$"),
            (loads, (1 + np.sqrt(neurons / patterns)) ** -2, "global average is unstable above"),
        ]
        return found if end == convergence.REST else found[1:3]


DIAGRAM = Modern()

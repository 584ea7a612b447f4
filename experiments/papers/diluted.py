"""Derrida, Gardner & Zippelius 1987: Hebb's couplings, cut at random, each direction by itself, and parallel steps.

A neuron has K inputs on average. The overlap is measured after `settling` steps, a mean over `steps` more,
which a network that never comes to rest needs. Theory at T = 0 has the Poisson numbers of inputs, for N → ∞; the limit
takes K → ∞, too.
"""

from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import ClassVar

import jax
import jax.numpy as jnp

from experiments.contract import option
from experiments.papers.claim import Claim
from hopfield.disturbances import diluted
from hopfield.dynamics.heat_bath import glauber
from hopfield.networks import AsymmetricCouplings
from hopfield.observables.overlaps import overlap
from hopfield.patterns import spins
from hopfield.theory import diluted as theory


@dataclass
class Diluted(Claim):
    """Overlap that a diluted asymmetric network keeps, against its load and temperature."""

    quantity: ClassVar[str] = "overlap of the diluted network"
    x: ClassVar[str] = r"load $M/K$"
    y: ClassVar[str] = "overlap $m$"
    symbol: ClassVar[str] = "T"
    kind: ClassVar[str] = "exact for N → ∞"

    neurons: int = option(200, "number of neurons N", least=16, most=16384)
    inputs: int = option(24, "inputs K of a neuron, on average", least=2, most=1000)
    loads: list[float] = option([0.25, 0.75], "loads M/K, of which M is rounded", above=0, nonempty=True)
    temperatures: list[float] = option([0.0, 0.4], "temperatures T", least=0, nonempty=True)
    settling: int = option(10, "parallel steps before the mean", least=0)
    steps: int = option(10, "parallel steps of the mean", least=1)

    def places(self) -> list[tuple[float, float]]:
        counts = dict.fromkeys(max(1, round(load * self.inputs)) for load in self.loads)
        return [(heat, count / self.inputs) for heat, count in product(self.temperatures, counts)]

    def measure(self, key: jax.Array, curve: float, x: float) -> float:
        pattern_key, cut_key, step_key = jax.random.split(key, 3)
        stored = spins(pattern_key, round(x * self.inputs), self.neurons)
        whole = AsymmetricCouplings(stored.T @ stored, 1 / self.neurons)
        network = diluted(whole, cut_key, self.inputs / (self.neurons - 1))
        lengths = self.settling, self.steps
        return float(_kept(network, stored[0], step_key, max(curve, 1e-9), lengths, at_rest=curve == 0))

    def cost(self, curve: float, x: float) -> tuple[float, float]:
        return self.neurons**2, self.neurons**2 * (30 + self.settling + self.steps)

    def theory(self, curve: float, x: float) -> float | None:
        return theory.last_overlap_of_inputs(self.inputs, round(x * self.inputs)) if curve == 0 else None

    def limit(self, curve: float, x: float) -> float:
        return float(theory.last_overlap(x, curve))


@partial(jax.jit, static_argnames="at_rest")
def _kept(network, pattern, key, temperature, lengths, *, at_rest):
    """Mean overlap along parallel steps at T > 0, or at T = 0 (`at_rest`), where ties keep the spin."""
    settling, steps = lengths
    if not at_rest:
        found = glauber(network, pattern, key, temperature, sweeps=steps, burn_in=settling, dynamics="synchronous")
        return overlap(found.mean, pattern)

    def step(number, carry):
        state, total = carry
        state = network.update(state)
        return state, total + jnp.where(number >= settling, overlap(state, pattern), 0.0)

    return jax.lax.fori_loop(0, settling + steps, step, (pattern, jnp.zeros(())))[1] / steps

"""Gaikwad 2026 (arXiv:2604.12811): dense memories come to rest within O(log N) asynchronous sweeps.

A query starts at a given overlap with its pattern and moves until a sweep changes no spin.
"""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import jax
import jax.numpy as jnp

from experiments.contract import option
from experiments.papers.claim import Claim
from hopfield import retrieve
from hopfield.memories import find
from hopfield.patterns import flip, spins


@dataclass
class Sweeps(Claim):
    """Sweeps that move a query of a dense memory, against its size."""

    quantity: ClassVar[str] = "sweeps of a dense memory"
    x: ClassVar[str] = "neurons $N$"
    y: ClassVar[str] = "asynchronous sweeps"
    symbol: ClassVar[str] = r"\alpha"
    scale: ClassVar[str] = "log"

    degree: int = option(3, "degree n of the energy", least=2, most=6)
    neurons: list[int] = option([16, 32], "numbers of neurons N", least=4, most=4096, nonempty=True)
    loads: list[float] = option([0.02], "loads M/N^(n−1)", above=0, nonempty=True)
    flipped: float = option(0.2, "share of flipped spins at the start", least=0, most=0.5)
    queries: int = option(4, "queries of a draw", least=1, most=256)

    def places(self) -> list[tuple[float, float]]:
        return [(load, float(size)) for load in self.loads for size in self.neurons]

    def cost(self, curve: float, x: float) -> tuple[float, float]:
        entries = curve * x**self.degree
        return entries, 50 * self.queries * entries

    def measure(self, key: jax.Array, curve: float, x: float) -> float:
        count = find(f"dense:{self.degree}").rounded(curve, int(x), "odd")
        return float(_mean_sweeps(key, self.degree, count, int(x), min(self.queries, count), self.flipped))


@partial(jax.jit, static_argnums=(1, 2, 3, 4))
def _mean_sweeps(key, degree, num_patterns, neurons, queries, flipped):
    pattern_key, flip_key, order_key = jax.random.split(key, 3)
    stored = spins(pattern_key, num_patterns, neurons)
    memory = find(f"dense:{degree}").build(stored)

    def sweeps(target, flips, order):
        start = flip(flips, target, flipped)
        return retrieve(memory, start, dynamics="asynchronous", key=order, max_steps=1000).steps

    keys = (jax.random.split(each, queries) for each in (flip_key, order_key))
    return jnp.mean(jax.vmap(sweeps)(stored[:queries], *keys))

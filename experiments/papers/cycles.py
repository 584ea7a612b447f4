"""Limit cycles as memories (arXiv:2605.24611): rings of neurons, of lengths without a common divisor, under one clock.

A ring of p groups passes its states on by one group at every synchronous step, each neuron by the majority of the b
neurons of the group before. Rings of the lengths p₁, p₂, … return together after their product: Σ p b neurons have a
cycle of Π p steps. A start with flipped spins is back in the cycle after one step if no group has lost its majority.
"""

from dataclasses import dataclass
from functools import partial
from itertools import product
from math import gcd, prod
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from scipy.stats import binom

from experiments.contract import option
from experiments.papers.claim import Claim
from hopfield import retrieve, trajectory
from hopfield.networks import AsymmetricCouplings


@dataclass
class Cycles(Claim):
    """Share of noisy starts that fall into the stored cycle, of all its period, against the share of noise."""

    quantity: ClassVar[str] = "starts that end in the stored cycle"
    x: ClassVar[str] = "chance of a flip"
    y: ClassVar[str] = "share of starts"
    symbol: ClassVar[str] = "b"

    rings: list[int] = option([3, 5], "groups of the rings, without a common divisor", least=2, most=64, nonempty=True)
    copies: list[int] = option([3, 9], "neurons b of a group, odd", least=1, most=1001, nonempty=True)
    flipped: list[float] = option([0.1, 0.4], "chances that a spin of the start is flipped", least=0, most=0.5)
    queries: int = option(8, "noisy starts of each draw", least=1, most=4096)

    def __post_init__(self) -> None:
        if any(gcd(p, q) > 1 for i, p in enumerate(self.rings) for q in self.rings[:i]) or prod(self.rings) > 10**5:
            raise ValueError(f"cycles.rings must have no common divisor and a product to 1e5, got {self.rings}")
        if even := [number for number in self.copies if number % 2 == 0]:
            raise ValueError(f"cycles.copies must be odd, got {even[0]}")

    def setting(self) -> str:
        return f"{super().setting()} rings={'+'.join(map(str, self.rings))}"

    def places(self) -> list[tuple[float, float]]:
        return [(float(copies), chance) for copies, chance in product(self.copies, self.flipped)]

    def cost(self, curve: float, x: float) -> tuple[float, float]:
        neurons, steps = curve * sum(self.rings), 6 * prod(self.rings)
        return max(neurons**2, steps * neurons), self.queries * steps * neurons**2

    def measure(self, key: jax.Array, curve: float, x: float) -> float:
        network, start = rings(self.rings, int(curve))
        return float(_share_on(network, start, x, jax.random.split(key, self.queries), period=prod(self.rings)))

    def theory(self, curve: float, x: float) -> float:
        lost = binom.sf(curve // 2, curve, x)
        return float((1 - lost) ** sum(self.rings))


def rings(lengths: list[int], copies: int) -> tuple[AsymmetricCouplings, jax.Array]:
    """Network of rings, and a state of its cycle: one group of every ring is up."""
    groups, first = np.zeros((sum(lengths), sum(lengths))), np.cumsum([0, *lengths[:-1]])
    for begin, length in zip(first, lengths, strict=True):
        place = np.arange(length)
        groups[begin + (place + 1) % length, begin + place] = 1
    start = np.where(np.isin(np.arange(len(groups)), first), 1.0, -1.0)
    matrix = jnp.asarray(np.kron(groups, np.ones((copies, copies))))
    return AsymmetricCouplings(matrix), jnp.repeat(jnp.asarray(start), copies)


@partial(jax.jit, static_argnames="period")
def _share_on(network, start, chance, keys, *, period):
    cycle = trajectory(network, start, period)[:-1]

    def held(key):
        noisy = jnp.where(jax.random.uniform(key, start.shape) < chance, -start, start)
        end = retrieve(network, noisy, max_steps=4 * period + 4)
        return (end.period == period) & jnp.all(end.state == cycle[end.steps % period])

    return jnp.mean(jax.vmap(held)(keys))

"""Burns & Fukai 2023: Hebb's rule on sets of two and three neurons, as many sets as the classical network has pairs.

The sets are drawn at random; a set σ has the coupling w_σ = (1/N) Σ_μ Π_{i∈σ} ξ_i^μ, E = −Σ_σ w_σ Π_{i∈σ} x_i.
Asynchronous sweeps start in a stored pattern. With c sets at a neuron a field has a signal c beside noise of variance
c(M − 1): a triple is at three neurons and a pair at two, so that triples alone should hold 3/2 as many.

The energy of all sets of one size is a function of the overlap, a separation. The energy of some is none, and as a
similarity of the products over them the step of a spin would depend on others: the network is a model of its own.
"""

from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from experiments.contract import option
from experiments.papers.claim import Claim, overlap_kept
from hopfield.patterns import spins
from hopfield.spaces import Spins


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Simplices:
    """Spins with couplings of pairs [E, 2] and triples [T, 3], a `SpinModel`."""

    pairs: jax.Array
    triples: jax.Array
    weights: tuple[jax.Array, jax.Array]
    space = property(lambda self: Spins(), doc="Where states live: spins.")

    def as_state(self, state):
        """The state as an array [N]."""
        return jnp.asarray(state)

    def energy(self, state):
        """−Σ w Π x over pairs and triples."""
        sums = (jnp.sum(w * jnp.prod(state[s], axis=1)) for w, s in zip(self.weights, self._sets(), strict=True))
        return -sum(sums)

    def local_field(self, state):
        """Σ of the couplings at a spin times the other spins of their sets: spins are signs, x_i² = 1."""
        field = jnp.zeros_like(state)
        for weights, sets in zip(self.weights, self._sets(), strict=True):
            terms = weights * jnp.prod(state[sets], axis=1)
            field = field.at[sets].add(jnp.broadcast_to(terms[:, None], sets.shape))
        return field * state

    def update(self, state, known=None):
        """The signs of all fields; a spin without a field stays."""
        return self.space.project(self.local_field(state), state, known=known)

    def cache(self, state):
        """All fields, from which `field_at` takes one."""
        return self.local_field(state)

    def field_at(self, cache, state, i):
        """The field of one spin."""
        return cache[i]

    def advance(self, cache, state, i, new):
        """The fields once a spin has a new sign."""
        return self.local_field(state.at[i].set(new))

    def _sets(self):
        return self.pairs, self.triples


def simplices(patterns: jax.Array, seed: int, share: float) -> Simplices:
    """Hebb's rule on as many random sets as there are pairs, a share of them triples."""
    neurons, random = patterns.shape[1], np.random.default_rng(seed)
    number = neurons * (neurons - 1) // 2
    triples = round(share * number)
    pairs = np.argwhere(np.triu(np.ones((neurons, neurons)), 1))
    pairs = pairs[np.sort(random.permutation(number)[: number - triples])]
    rows = np.sort(np.argsort(random.random((2 * triples, neurons)), axis=1)[:, :3], axis=1)
    rows = np.unique(rows, axis=0)
    rows = rows[random.permutation(len(rows))[:triples]]
    of_pairs, of_triples = (jnp.sum(jnp.prod(patterns[:, sets], axis=2), axis=0) / neurons for sets in (pairs, rows))
    return Simplices(jnp.asarray(pairs), jnp.asarray(rows.reshape(-1, 3)), (of_pairs, of_triples))


@dataclass
class Simplicial(Claim):
    """Overlap kept by a network of pairs, triples or both, of as many sets, against the load."""

    quantity: ClassVar[str] = "overlap kept by pairs and triples"
    x: ClassVar[str] = r"load $\alpha=M/N$"
    y: ClassVar[str] = "final overlap"

    neurons: int = option(20, "number of neurons N", least=4, most=512)
    triples: list[float] = option([0.0, 1.0], "shares of the sets that are triples", least=0, most=1, nonempty=True)
    loads: list[float] = option([0.1, 0.5], "loads M/N", above=0, nonempty=True)
    queries: int = option(2, "patterns that are started from in each draw", least=1, most=64)

    @classmethod
    def label(cls, curve: float) -> str:
        return f"{curve:.0%} triples"

    def places(self) -> list[tuple[float, float]]:
        counts = dict.fromkeys(max(1, round(load * self.neurons)) for load in self.loads)
        return [(share, count / self.neurons) for share, count in product(self.triples, counts)]

    def cost(self, curve: float, x: float) -> tuple[float, float]:
        sets = self.neurons**2 / 2
        return x * self.neurons * sets, sets * (x * self.neurons + 30 * self.neurons * self.queries)

    def measure(self, key: jax.Array, curve: float, x: float) -> float:
        pattern_key, set_key, order_key = jax.random.split(key, 3)
        stored = spins(pattern_key, round(x * self.neurons), self.neurons)
        network = simplices(stored, int(jax.random.bits(set_key)), curve)
        asked = stored[: self.queries]
        return float(overlap_kept(network, asked, order_key, max_steps=50))

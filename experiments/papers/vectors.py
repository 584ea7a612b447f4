"""Nicoletti, D'Amico & Negri 2025 (arXiv:2507.02586); Cook 1989: spins of several components, and phases.

A spin is a vector of d components and length √d; Hebb's energy −½ Σ_μ (Σ_i ξ_i^μ·x_i)²/(Nd) is the classical
network's in another space. A phase is a vector of two components whose patterns are stored with all of their
rotations, |Σ_i ξ_i^μ* x_i|² instead of the square, which doubles the crosstalk.

Theory is replica symmetric, T = 0. With y the field along the pattern in deviations of its noise, h = y√d e₁ + z of
Gaussian z, and a = 1, for phases 2: √(a α/d) = m/y − (d−1)/√d ⟨1/|h|⟩, m = ⟨h₁/|h|⟩; the largest load is where the
right side is largest.
"""

from dataclasses import dataclass, field
from functools import cache, partial
from itertools import product
from typing import ClassVar, cast

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import chi

from experiments.contract import option
from experiments.papers.claim import Claim
from hopfield import Memory, retrieve
from hopfield.spaces import Space

PHASES = 0.0
"""Number of the curve of phases; a curve of vectors has their number of components."""


class VectorSpins(Space):
    """Spins of d components each and length √d, R = 0: a field turns every spin along itself.

    Attributes:
        components: d, which divides the length of a state.
    """

    components: int = field(default=2, metadata={"pytree_node": False})
    flat = property(lambda self: True)

    def _rows(self, state):
        return state.reshape(*state.shape[:-1], -1, self.components)

    def potential(self, state):
        return jnp.zeros((), state.dtype)

    def project(self, field, state, curvature=0.0, known=None):
        rows = self._rows(field)
        norm = jnp.linalg.norm(rows, axis=-1, keepdims=True)
        new = jnp.where(norm == 0, self._rows(state), self.components**0.5 * rows / jnp.where(norm == 0, 1.0, norm))
        new = new.reshape(state.shape)
        return new if known is None else jnp.where(known, state, new)

    def violation(self, states):
        return jnp.max(jnp.abs(jnp.linalg.norm(self._rows(states), axis=-1) - self.components**0.5), axis=-1)


def vector_memory(patterns, components: int, *, phases: bool = False) -> Memory:
    """Hebb's energy of patterns [M, N d] of spins of d components; of phases with every rotation of a pattern."""
    rows = jnp.concatenate([patterns, turned(patterns)]) if phases else patterns
    return Memory(rows, 1 / patterns.shape[1], separation="linear", space=VectorSpins(components))


def drawn(key: jax.Array, num_patterns: int, spins: int, components: int) -> jax.Array:
    """Random patterns [M, N d] of spins that point anywhere."""
    rows = jax.random.normal(key, (num_patterns, spins * components))
    return jax.vmap(VectorSpins(components).project)(rows, rows)


def turned(states):
    """States [..., N 2] with every spin of two components turned by a right angle."""
    pairs = states.reshape(*states.shape[:-1], -1, 2)
    return jnp.stack([-pairs[..., 1], pairs[..., 0]], axis=-1).reshape(states.shape)


@dataclass
class Vectors(Claim):
    """Overlap that vector spins, or phases, keep, against the load."""

    quantity: ClassVar[str] = "overlap of vector spins"
    x: ClassVar[str] = r"load $\alpha=M/N$"
    y: ClassVar[str] = "final overlap $m$"
    symbol: ClassVar[str] = "d"
    kind: ClassVar[str] = "replica symmetric"

    spins: int = option(40, "number of spins N", least=4, most=8192)
    components: list[int] = option([0, 2], "components d of a spin; 0 for phases", least=0, most=64, nonempty=True)
    around: list[float] = option([0.5, 1.5], "loads over the largest one, N → ∞", above=0, most=8, nonempty=True)
    queries: int = option(4, "patterns that are started from in each draw", least=1, most=64)
    max_steps: int = option(200, "synchronous updates at most", least=1)

    def __post_init__(self) -> None:
        if 1 in self.components:
            raise ValueError("vectors.components must be 0 or at least 2, as spins of one component are signs, got 1")

    @classmethod
    def label(cls, curve: float) -> str:
        return "phases" if curve == PHASES else super().label(curve)

    def places(self) -> list[tuple[float, float]]:
        found = []
        for components, share in product(self.components, self.around):
            count = max(1, round(share * spinodal(components)[0] * self.spins))
            found.append((float(components), count / self.spins))
        return found

    def cost(self, curve: float, x: float) -> tuple[float, float]:
        entries = x * self.spins**2 * (curve or 4)
        return entries, 2 * entries * self.queries * self.max_steps

    def measure(self, key: jax.Array, curve: float, x: float) -> float:
        phases, width = curve == PHASES, int(curve) or 2
        patterns = drawn(key, round(x * self.spins), self.spins, width)
        asked = patterns[: min(self.queries, len(patterns))]
        return float(_ends(vector_memory(patterns, width, phases=phases), asked, self.max_steps, phases=phases))

    def limit(self, curve: float, x: float) -> float:
        return retrieval_overlap(int(curve), x)


@partial(jax.jit, static_argnames="phases")
def _ends(memory, starts, max_steps, *, phases):
    """Mean final overlap, whatever the angle that all spins have turned by where patterns are stored with rotations."""

    run = lambda start: retrieve(memory, start, max_steps=max_steps, rtol=1e-5).state
    ends = jax.vmap(run)(starts)
    along = jnp.sum(ends * starts, axis=1)
    across = jnp.sum(ends * turned(starts), axis=1) if phases else 0.0
    return jnp.mean(jnp.sqrt(along**2 + across**2)) / starts.shape[1]


@cache
def _noise(components: int, field_along: float) -> tuple[float, float]:
    """√(α/d) that leaves a field of y deviations of the noise along a pattern, and the overlap then."""
    width = components or 2
    along, weight = np.polynomial.hermite_e.hermegauss(120)
    across = chi.ppf((np.arange(2000) + 0.5) / 2000, width - 1)
    first = field_along * np.sqrt(width) + along[:, None]
    length = np.sqrt(first**2 + across**2)
    mean = lambda values: float(weight @ values.mean(axis=1) / weight.sum())
    overlap = mean(first / length)
    crosstalk = 2.0 if components == PHASES else 1.0
    found = overlap / field_along - (width - 1) / np.sqrt(width) * mean(1 / length)
    return found / np.sqrt(crosstalk), overlap


@cache
def spinodal(components: int) -> tuple[float, float]:
    """Largest load with a retrieval state, replica symmetric, and the field y there; 0 components are phases."""
    best = minimize_scalar(lambda y: -_noise(components, y)[0], bounds=(0.5, 5.0), method="bounded")
    return (components or 2) * float(_noise(components, best.x)[0]) ** 2, float(best.x)


def retrieval_overlap(components: int, load: float) -> float:
    """Overlap of the retrieval state, replica symmetric, at T = 0; NaN at loads without one."""
    largest, field_along = spinodal(components)
    if load > largest:
        return float("nan")
    target = np.sqrt(load / (components or 2))
    root = brentq(lambda y: _noise(components, y)[0] - target, field_along, 1e3)
    return _noise(components, float(cast(float, root)))[1]

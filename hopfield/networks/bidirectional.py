"""Bidirectional memory: pairs of spin patterns. Either pattern of a pair retrieves the other.

    y = sgn(Σ_μ ζ^μ ξ^μ·x),   x = sgn(Σ_μ ξ^μ ζ^μ·y)

Both halves of a step lower one energy; its states are pairs, so that the protocol is its own: `energy` and `update`.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from hopfield._arguments import spin_matrix
from hopfield._numerics import wide
from hopfield._pytrees import Node, fill
from hopfield.spaces import Spins, State, one_state


class BidirectionalMemory(Node):
    """Pairs of spin patterns that call for each other, E(x, y) = −Σ_μ (ξ_μ·x)(ζ_μ·y)/√(NV).

    Args:
        patterns: spins [M, N]. partners: spins [M, V].
    Raises:
        ValueError: anything else.
    Source: Kosko 1988, the bidirectional associative memory.

    Example:
        >>> from hopfield.networks import BidirectionalMemory
        >>> names, faces = jnp.array([[1.0, 1, 1, 1], [1, -1, 1, -1]]), jnp.array([[1.0, 1], [1, -1]])
        >>> state, partner = BidirectionalMemory(names, faces).update(names[1], faces[0])
        >>> partner.tolist()
        [1.0, -1.0]
    """

    patterns: Float[Array, "M N"]
    partners: Float[Array, "M V"]

    def __post_init__(self) -> None:
        patterns, partners = spin_matrix("patterns", self.patterns), spin_matrix("partners", self.partners)
        if len(patterns) != len(partners):
            raise ValueError(f"partners must have one row per pattern ({len(patterns)}), got {len(partners)}")
        fill(self, patterns=patterns, partners=partners)

    def energy(self, state: State, partner: State) -> Float[Array, ""]:
        """Energy E(x, y). Neither half of `update` ever raises it."""
        patterns, partners, state, partner = self._wide(state, partner)
        return -jnp.dot(patterns @ state, partners @ partner) / (state.size * partner.size) ** 0.5

    def update(self, state: State, partner: State) -> tuple[State, State]:
        """First y = sgn(Σ ζ_μ ξ_μ·x), then x = sgn(Σ ξ_μ ζ_μ·y). A zero field keeps the spin."""
        patterns, partners, state, other = self._wide(state, partner)
        other = Spins().project(partners.T @ (patterns @ state), other)
        new = Spins().project(patterns.T @ (partners @ other), state)
        return new.astype(self.patterns.dtype), other.astype(self.partners.dtype)

    def _wide(self, state: State, partner: State) -> tuple[Array, Array, Array, Array]:
        """Patterns, partners and both states in the type that sums are carried in."""
        halves = []
        for name, rows, x in (("state", self.patterns, state), ("partner", self.partners, partner)):
            x = one_state(x, rows.shape[1], rows.dtype, name)
            halves.append((wide(rows), wide(x)))
        (patterns, state), (partners, partner) = halves
        return patterns, partners, state, partner

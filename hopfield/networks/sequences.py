"""Sequence memories: networks of spins whose asymmetric couplings take each pattern to the next one.

    σ_i(t+1) = sgn Σ_μ (ξ_i^{μ+1} + λ ξ_i^μ) f((1/(N−1)) Σ_{j≠i} ξ_j^μ σ_j)       f(x) = x^d or e^{(N−1)(x−1)}

No energy exists that falls along such steps: `trajectory` takes these memories, and `retrieve`, which asks for an
energy, refuses them.
"""

from dataclasses import KW_ONLY

import jax
import jax.numpy as jnp
from flax import struct
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._arguments import flag, integer, real_scalar, spin_matrix
from hopfield._numerics import power_scale, wide
from hopfield._pytrees import Node, fill
from hopfield.separations._ties import balance, zero_within_rounding
from hopfield.spaces import Known, Spins, State, as_known, one_state


class SequenceMemory(Node):
    """A sequence of patterns of spins, followed step by step.

    Args:
        patterns: spins [M, N] in the order of the sequence.
        degree: d ≥ 1 of f(x) = x^d; 1 is the asymmetric Hebb rule, None the exponential e^{(N−1)(x−1)}.
        ratio: λ ≥ 0, strength of the symmetric term that keeps the present pattern; above 1 it keeps it for good.
        cyclic: whether the first pattern follows the last; else the last calls for itself.
        pseudo_inverse: take the overlaps of independent patterns apart, f(Σ_ν (O⁺)_{μν} m_ν) with O = ΞΞᵀ/N: every
            transition of M < N patterns is right, however correlated they are. The own spin then counts.
    Raises:
        ValueError: patterns are no spins, or a number is out of range.
    Source: Sompolinsky & Kanter 1986; Chaudhry, Zavatone-Veth, Krotov & Pehlevan 2023 (arXiv:2306.04532).

    Example:
        >>> import jax.numpy as jnp
        >>> from hopfield import trajectory
        >>> from hopfield.networks import SequenceMemory
        >>> patterns = jnp.array([[1.0, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1]])
        >>> trajectory(SequenceMemory(patterns), patterns[0], 3).tolist()[3]
        [1.0, 1.0, 1.0, 1.0]
    """

    patterns: Float[Array, "M N"]
    degree: int | None = struct.field(pytree_node=False, default=1)
    _: KW_ONLY
    ratio: Float[Array, ""] | float = 0.0
    cyclic: bool = struct.field(pytree_node=False, default=True)
    pseudo_inverse: bool = struct.field(pytree_node=False, default=False)
    successors: Float[Array, "M N"] = struct.field(init=False)
    """Patterns that each pattern's overlap calls for."""
    filters: Float[Array, "M M"] | None = struct.field(init=False)
    """Inverse of the patterns' overlaps, which decorrelates them; None for the plain rule."""

    def __post_init__(self) -> None:
        patterns = spin_matrix("patterns", self.patterns)
        degree = None if self.degree is None else integer("degree", self.degree)
        ratio = real_scalar("ratio", self.ratio, "a finite number of at least 0", 0.0)
        cyclic, inverse = flag("cyclic", self.cyclic), flag("pseudo_inverse", self.pseudo_inverse)
        rows = wide(patterns)
        fill(self, patterns=patterns, degree=degree, ratio=jnp.asarray(ratio, rows.dtype))
        fill(self, cyclic=cyclic, pseudo_inverse=inverse)
        successors = jnp.roll(patterns, -1, axis=0) if cyclic else jnp.concatenate([patterns[1:], patterns[-1:]])
        filters = jnp.linalg.pinv(rows @ rows.T / patterns.shape[1], hermitian=True) if inverse else None
        fill(self, successors=successors, filters=filters)

    @property
    def space(self) -> Spins:
        """Space of the states: sequences are of spins."""
        return Spins()

    def as_state(self, state: ArrayLike) -> State:
        """A state as an array of floating type. ValueError unless it is one state, as wide as the patterns."""
        return one_state(state, self.patterns.shape[1], self.patterns.dtype)

    def overlaps(self, state: State) -> Float[Array, "M"]:
        """m_μ = ξ_μ·x/N [M], decorrelated where the memory is."""
        overlaps = self._rows() @ self.as_state(state) / self.patterns.shape[1]
        return overlaps if self.filters is None else self.filters @ overlaps

    def local_field(self, state: State) -> Float[Array, "N"]:
        """Local field on every spin [N], each up to a positive factor.

        Zero where terms cancel: exactly while they are whole numbers below 2^24, with `pseudo_inverse` where nothing
        but their rounding is left.
        """
        state, rows = self.as_state(state), self._rows()
        called = wide(self.successors) + self.ratio * rows
        if self.filters is not None:
            sums, spread = (self.patterns.shape[1] - 1) * self.overlaps(state), self._size_of_terms(self.filters, state)
            weights, changes = jax.jvp(self._shape, (sums,), (spread,))
            size = jnp.sqrt((weights**2 + changes**2) @ called**2)
            return zero_within_rounding(weights @ called, 2.0 * size)
        sums = (rows @ state)[:, None] - rows * state[None, :]  # without the own spin [M, N]
        if self.degree is not None:
            return jnp.sum(called * self._shape(sums), axis=0)
        signs = jnp.all((jnp.abs(state) == 1) | (state == 0) | jnp.isnan(state))
        apart = jax.vmap(balance, (1, 1))(self._shape(sums), called)
        return jnp.where(signs, _exact_exponential_sum(sums, wide(self.successors), self.ratio * rows), apart)

    def update(self, state: State, known: Known = None) -> State:
        """One synchronous step [N], units in `known` held fixed. A zero field keeps the spin."""
        state = self.as_state(state)
        return self.space.project(self.local_field(state), state, known=as_known(known, state)).astype(state.dtype)

    def _shape(self, sums: Array) -> Array:
        """f of sums of N − 1 signs [M, ...], up to a factor per spin."""
        if self.degree is None:
            return jnp.exp(sums - jax.lax.stop_gradient(jnp.max(sums, axis=0, keepdims=True)))
        return (sums / power_scale(jnp.max(jnp.abs(sums), axis=0, keepdims=True), self.degree)) ** self.degree

    def _size_of_terms(self, filters: Array, state: State) -> Float[Array, "M"]:
        """Root of the summed squares of the terms of N − 1 decorrelated overlaps [M]: the scale of their rounding."""
        overlaps = self._rows() @ state / self.patterns.shape[1]
        return (self.patterns.shape[1] - 1) * jnp.sqrt(filters**2 @ overlaps**2)

    def _rows(self) -> Float[Array, "M N"]:
        """The patterns in the type that sums are carried in."""
        return wide(self.patterns)


def _exact_exponential_sum(sums: Array, *signs: Float[Array, "M N"]) -> Float[Array, "N"]:
    """Σ_μ signs e^sums [N] of whole sums from 1 − N to N − 1, added up over `signs`, up to a factor above 0 for each.

    Terms are counted by their sum first, exactly where they are ±1: terms that cancel leave nothing, and a small
    remainder is not lost beside them.
    """
    neurons = sums.shape[1]
    place = (0.5 * (sums + neurons - 1)).astype(jnp.int32)  # every other whole number is one
    count = sum(jax.vmap(lambda sign, at: jax.ops.segment_sum(sign, at, neurons), 1, 1)(sign, place) for sign in signs)
    height = jnp.arange(neurons)[:, None]
    largest = jnp.max(jnp.where(count != 0, height, 0), axis=0, keepdims=True)
    factor = jnp.exp(jnp.minimum(2.0 * (height - largest), 0.0))  # nothing is counted above the largest
    return jnp.sum(count * factor, axis=0) + 0.0 * jnp.sum(sums, axis=0)  # NaN stays

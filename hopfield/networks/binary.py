"""Binary networks: neurons {0, 1} with a threshold, and the rules for sparse patterns that they learn by.

    E(V) = −½ (V−b)·W (V−b) + θ Σ_i V_i        V_i = 1 where h_i = Σ_{j≠i} W_ij (V_j − b) − θ > 0

With spins x = 2V − 1 the same network is one of `Couplings` with a bias, whose neurons also move one at a time.
"""

from typing import Any

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float

from hopfield._arguments import boolean_array, integer, real_matrix, real_scalar
from hopfield._numerics import is_traced, nan_outside, violated, wide
from hopfield._pytrees import Node, fill, unchecked
from hopfield.couplings import Couplings
from hopfield.spaces import Known, State, as_known, one_state


class BinaryNetwork(Node):
    """A network of neurons {0, 1} with symmetric couplings and a threshold.

    Args:
        matrix: W [N, N], symmetric; its diagonal is dropped.
        threshold: θ.
        offset: b in [0, 1]: 0 for plain {0, 1} neurons, the activity of the patterns for the least noise.
    Raises:
        ValueError: the matrix is not symmetric, not finite or not square, or a number is out of range.

    Example:
        >>> import jax.numpy as jnp
        >>> from hopfield.networks import willshaw_network
        >>> patterns = jnp.array([[1.0, 1, 0, 0, 0], [0, 0, 0, 1, 1]])
        >>> willshaw_network(patterns).update(jnp.array([1.0, 0, 0, 0, 0])).tolist()
        [0.0, 1.0, 0.0, 0.0, 0.0]
    """

    matrix: Float[Array, "N N"]
    threshold: Float[Array, ""]
    offset: Float[Array, ""]

    def __init__(self, matrix: Float[Array, "N N"], threshold: ArrayLike, offset: ArrayLike = 0.0) -> None:
        hollow = Couplings(matrix).matrix
        threshold = real_scalar("threshold", threshold, "a finite number")
        offset = real_scalar("offset", offset, "from 0 to 1", 0.0, 1.0)
        fill(
            self,
            matrix=hollow,
            threshold=jnp.asarray(threshold, hollow.dtype),
            offset=jnp.asarray(offset, hollow.dtype),
        )

    def as_state(self, state: ArrayLike) -> State:
        """Zeros and ones in the matrix's type. ValueError unless they are one state, as wide as the matrix."""
        state = one_state(state, self.matrix.shape[0], self.matrix.dtype)
        return _zeros_and_ones("state", state.astype(self.matrix.dtype))

    def local_field(self, state: State) -> Float[Array, "N"]:
        """h = W (V − b) − θ [N], by which the energy falls where a neuron goes from 0 to 1."""
        return self.matrix @ (self.as_state(state) - self.offset) - self.threshold

    def energy(self, state: State) -> Float[Array, ""]:
        """E(V) = −½ (V−b)·W (V−b) + θ Σ V."""
        state = self.as_state(state)
        apart = state - self.offset
        return -0.5 * jnp.dot(apart, self.matrix @ apart) + self.threshold * jnp.sum(state)

    def update(self, state: State, known: Known = None) -> State:
        """One synchronous step [N], units in `known` held fixed; a neuron whose field is zero does not change."""
        state = self.as_state(state)
        field, known = self.local_field(state), as_known(known, state)
        kept = (field == 0) if known is None else (field == 0) | known
        return jnp.where(kept, state, jnp.where(jnp.isnan(field), field, jnp.where(field > 0, 1.0, 0.0)))

    def winners(self, state: State, active: ArrayLike) -> State:
        """One synchronous step under activity control [N]: the `active` neurons of largest field are on, no threshold.

        Args:
            state: neurons [N].
            active: how many, 0 to N; among equal fields lower indices win. May be traced; NaN out of range.
        """
        field = self.local_field(state)
        if not is_traced(active) and integer("active", active, 0) > field.size:
            raise ValueError(f"active must be at most the {field.size} neurons, got {active}")
        rank = jnp.argsort(jnp.argsort(-field, stable=True))
        known = jnp.any(active == jnp.arange(field.size + 1)) & ~jnp.any(jnp.isnan(field))
        return nan_outside(jnp.where(rank < active, 1.0, 0.0), known).astype(field.dtype)

    def couplings(self) -> Couplings:
        """The same network of spins x = 2V − 1: its energy up to a constant, with all dynamics of spins."""
        bias = (1.0 - 2.0 * self.offset) * jnp.sum(self.matrix, axis=1) - 2.0 * self.threshold
        scale = jnp.asarray(0.25, self.matrix.dtype)
        return unchecked(Couplings, matrix=self.matrix, scale=scale, bias=bias)


def covariance_network(
    patterns: Float[Array, "M N"],
    activity: float | Array | None = None,
    *,
    threshold: float | Array | None = None,
    offset: float | Array = 0.0,
    mask: Bool[Array, "M"] | None = None,
) -> BinaryNetwork:
    """W_ij = Σ_μ (η_i − a)(η_j − a) / (a(1−a)N), without the diagonal.

    Args:
        patterns: η, entries 0 and 1 [M, N].
        activity: a, above 0 and below 1; the share of ones among all patterns in use if None.
        threshold: θ; ½ − a if None, halfway between the signals 1 − a and −a of neurons to be on and off.
            `theory.sparse.spinodal` has the best threshold near capacity.
        offset: b, as in `BinaryNetwork`; ½ is the ±1 form of Amit, Gutfreund & Sompolinsky 1987.
        mask: patterns in use [M].
    Raises:
        ValueError: patterns hold other numbers, or a number is out of range.
    Source: Tsodyks & Feigel'man 1988.
    """
    stored, used = _binary_patterns(patterns, mask)
    if activity is None:
        activity = jnp.sum(stored * used[:, None]) / jnp.maximum(jnp.sum(used) * stored.shape[1], 1)
        if not is_traced(activity) and not 0 < activity < 1:
            raise ValueError(
                f"activity must be given for patterns whose share of ones is {float(activity):g}, got None"
            )
    a = jnp.asarray(real_scalar("activity", activity, "from 1e-6 to 1 - 1e-6", 1e-6, 1 - 1e-6), stored.dtype)
    rows = jnp.where(used[:, None], stored - a, 0.0)
    matrix = rows.T @ rows / (a * (1 - a) * stored.shape[1])
    return BinaryNetwork(matrix, 0.5 - a if threshold is None else threshold, offset)


def willshaw_network(
    patterns: Float[Array, "M N"], threshold: float | Array | None = None, *, mask: Bool[Array, "M"] | None = None
) -> BinaryNetwork:
    """Binary synapses, on where any pattern has both neurons on: W_ij = [Σ_μ η_i η_j > 0], without the diagonal.

    Args:
        patterns: η, entries 0 and 1 [M, N].
        threshold: θ; ½ if None, so that one synapse is enough. A cue of K neurons calls for K − ½: neurons outside
            the cue then need all their K synapses from the cue; neurons of the cue have K − 1 such synapses, all on.
        mask: patterns in use [M].
    Raises:
        ValueError: patterns hold other numbers.
    Source: Willshaw, Buneman & Longuet-Higgins 1969.
    """
    stored, used = _binary_patterns(patterns, mask)
    rows = jnp.where(used[:, None], stored, 0.0)
    together = rows.T @ rows
    matrix = jnp.where(jnp.isnan(together), together, jnp.where(together > 0, 1.0, 0.0).astype(stored.dtype))
    return BinaryNetwork(matrix, 0.5 if threshold is None else threshold)


def _zeros_and_ones(name: str, entries: Array) -> Array:
    """Entries 0, 1 and NaN, unchanged. Others, such as spins, raise ValueError, or become NaN if traced."""

    def inside(x: Array) -> Array:
        return (x == 0) | (x == 1) | (x != x)

    if violated(inside, entries):
        raise ValueError(f"{name} must be zeros and ones, got other entries")
    return nan_outside(entries, inside(entries))


def _binary_patterns(patterns: Any, mask: Any) -> tuple[Array, Array]:
    """Patterns of zeros and ones in the type that sums are carried in, and which are in use."""
    stored = _zeros_and_ones("patterns", real_matrix("patterns", patterns))
    used = jnp.ones(stored.shape[:1], bool) if mask is None else boolean_array("mask", mask, stored.shape[:1])
    return wide(stored), used

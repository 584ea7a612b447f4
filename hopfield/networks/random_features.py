"""Memories of random features: any number of patterns in a vector of fixed size, with adding and forgetting.

    exp(−β‖x−ξ‖²/2) ≈ φ(x)·φ(ξ)       T = Σ_μ φ(ξ_μ)       E(x) = −ln (φ(x)·T) / β

The estimate of the sum is a mean of K terms, one per projection, Y = 2K. Their spread is its error, which falls as
Y^(−1/2) and grows fast with β: sin-cos features then go negative, no features mean anything. The energy is NaN where
the predicted relative error exceeds a limit.
"""

from functools import partial
from typing import Literal, get_args

import jax
import jax.numpy as jnp
from flax import struct
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._arguments import (
    flag,
    instance,
    integer,
    one_of,
    positive_scalar,
    random_key,
    real_matrix,
    real_scalar,
    step_limit,
)
from hopfield._numerics import safe_norm, tolerance, wide
from hopfield._pytrees import Node, changed, fill
from hopfield.dynamics.retrieval import Retrieval
from hopfield.dynamics.settling import near, settled
from hopfield.spaces import Euclidean, Known, State, as_known, one_state

FeatureKind = Literal["trigonometric", "positive"]
FEATURES: tuple[FeatureKind, ...] = get_args(FeatureKind)
BLOCK = 256
"""Patterns whose features are held at once while many are added."""
GROUPS = 8
"""Number of groups of projections at right angles from which on the means of groups give the error."""


class FeatureMemory(Node):
    """A memory of fixed size Y = 2K for the energy −ln Σ_μ exp(−β‖x−ξ_μ‖²/2) / β, empty at first.

    Args:
        key: random key of the projections.
        neurons: N.
        features: Y, an even number of at least 4: two per projection, whose spread is the error.
        beta: β > 0; may be traced.
        kind: "trigonometric", cos and sin of √β w·x; "positive", e^(±√β w·x − β‖x‖²), never negative, with an error
            that a memory foretells too small (see `predicted_error`), so that `limit` lets more pass.
        orthogonal: projections at right angles to each other, N at a time, which lowers the error. For fewer than 16 N
            features the prediction is the larger error of independent projections.
        limit: relative error of the sum above which the energy is NaN.
    Raises:
        ValueError: a number out of range or an odd number of features.
    Source: Rahimi & Recht 2007; Choromanski et al. 2021 (arXiv:2009.14794); Hoover et al. 2024 (arXiv:2410.24153).

    Example:
        >>> import jax
        >>> import jax.numpy as jnp
        >>> from hopfield.networks import FeatureMemory
        >>> memory = FeatureMemory(jax.random.key(0), 4, 2000, beta=2.0).add(jnp.eye(4)[:2])
        >>> round(abs(float(memory.energy(jnp.eye(4)[0]))), 1)  # −ln(1 + e^−2)/2 = −0.06
        0.1
    """

    projections: Float[Array, "K N"]
    beta: Float[Array, ""]
    total: Float[Array, "2 K"]
    """T: the sums of both features of every projection, over the patterns."""
    limit: Float[Array, ""]
    kind: FeatureKind = struct.field(pytree_node=False, default="trigonometric")
    group: int = struct.field(pytree_node=False, default=1)
    """How many projections follow each other that are not independent of each other."""

    def __init__(
        self,
        key,
        neurons: int,
        features: int,
        *,
        beta: ArrayLike = 1.0,
        kind: FeatureKind = "trigonometric",
        orthogonal: bool = False,
        limit: float = 0.5,
    ) -> None:
        neurons, features = integer("neurons", neurons), integer("features", features, 4)
        if features % 2:
            raise ValueError(f"features must be an even number, got {features}")
        one_of("kind", kind, FEATURES)
        real_scalar("limit", limit, "at least 1e-6", 1e-6)
        drawn = _projections(random_key("key", key), features // 2, neurons, flag("orthogonal", orthogonal))
        group = neurons if orthogonal and features // 2 >= GROUPS * neurons else 1
        scale = jnp.asarray(positive_scalar("beta", beta), drawn.dtype)
        fill(self, projections=drawn, beta=scale, total=jnp.zeros((2, features // 2)))
        fill(self, limit=jnp.asarray(limit, drawn.dtype), kind=kind, group=group)

    replace = changed

    @property
    def space(self) -> Euclidean:
        """Space of the states: ℝᴺ, where the energy confines by itself."""
        return Euclidean(confined=False)

    def as_state(self, state: ArrayLike) -> State:
        """A state as an array of floating type. ValueError unless it is one state, as wide as the projections."""
        return one_state(state, self.projections.shape[1], self.projections.dtype)

    def features(self, state: State) -> Float[Array, "2 K"]:
        """√K φ(x): both features of every projection."""
        x = wide(self.as_state(state))
        along = jnp.sqrt(self.beta) * (self.projections @ x)
        if self.kind == "trigonometric":
            return jnp.stack([jnp.cos(along), jnp.sin(along)])
        fall = self.beta * jnp.sum(x * x)
        return jnp.stack([jnp.exp(along - fall), jnp.exp(-along - fall)]) / jnp.sqrt(2.0)

    def add(self, patterns: Float[Array, "M N"]) -> "FeatureMemory":
        """The memory with more patterns, added block by block: T + Σ φ(ξ)."""
        return changed(self, total=self.total + _sum_features(self, self._rows(patterns)))

    def forget(self, patterns: Float[Array, "M N"]) -> "FeatureMemory":
        """The memory without patterns that were added before, to rounding: T − Σ φ(ξ)."""
        return changed(self, total=self.total - _sum_features(self, self._rows(patterns)))

    def kernel_sum(self, state: State) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """φ(x)·T, the estimate of Σ_μ exp(−β‖x−ξ_μ‖²/2), and its standard error from the spread over projections."""
        terms = jnp.sum(self.features(state) * self.total, axis=0)
        means = jnp.mean(terms[: terms.size // self.group * self.group].reshape(-1, self.group), axis=1)
        return jnp.mean(terms), jnp.std(means, ddof=1) / jnp.sqrt(means.size)

    def predicted_error(self, state: State) -> Float[Array, ""]:
        """Relative standard error of the sum, and so the error of β E. It is infinite where the sum is not positive.

        Of positive features it is too small, half and less, unless β‖x+ξ‖² is small beside ln K: one pattern's relative
        variance is (cosh(β‖x+ξ‖²) − 1)/K, and most of it comes from projections so rare that a memory may have none.
        """
        value, error = self.kernel_sum(state)
        return jnp.where(value <= 0, jnp.inf, error / jnp.where(value <= 0, 1.0, value))

    def energy(self, state: State) -> Float[Array, ""]:
        """E(x) = −ln (φ(x)·T) / β. NaN where its predicted error is above the limit, as where the sum is zero."""
        value, error = self.kernel_sum(state)
        reliable = (value > 0) & (error <= self.limit * value)
        return -jnp.log(value * jnp.where(reliable, 1.0, jnp.nan)) / self.beta  # whose slope is NaN, too

    def update(self, state: State, known: Known = None) -> State:
        """x − ∇E(x) [N], units in `known` held fixed; with exact features the mean of patterns, by kernels."""
        state = self.as_state(state)
        x = wide(state)
        new = self.space.project(x - jax.grad(self.energy)(x), x, 1.0, as_known(known, state))
        return new.astype(state.dtype)

    def _rows(self, patterns: Float[Array, "M N"]) -> Float[Array, "M N"]:
        rows = real_matrix("patterns", patterns)
        if rows.shape[1] != self.projections.shape[1]:
            raise ValueError(f"patterns must have {self.projections.shape[1]} columns, got shape {rows.shape}")
        return rows.astype(self.projections.dtype)


@jax.jit
def _sum_features(memory: FeatureMemory, rows: Array) -> Array:
    """Σ φ of rows, in the memory of one block of rows."""
    blocks = -(-len(rows) // BLOCK)
    used = jnp.arange(blocks * BLOCK) < len(rows)
    padded = jnp.pad(rows, ((0, blocks * BLOCK - len(rows)), (0, 0)))

    def add(total, block):
        part, valid = block
        features = jax.vmap(memory.features)(part)
        return total + jnp.sum(jnp.where(valid[:, None, None], features, 0.0), axis=0), None

    shaped = padded.reshape(blocks, BLOCK, -1), used.reshape(blocks, BLOCK)
    return jax.lax.scan(add, jnp.zeros_like(memory.total), shaped)[0]


def descend(memory: FeatureMemory, state: State, *, max_steps: int = 100, step_size: ArrayLike = 1.0) -> Retrieval:
    """Descent x ← x − s ∇E to a fixed point. s = 1 gives the steps of `retrieve`. An energy of NaN on the way ends it.

    Args:
        memory: with patterns.
        state: query [N].
        max_steps: largest number of steps.
        step_size: s > 0.
    """
    instance("memory", memory, FeatureMemory)
    size = jnp.asarray(positive_scalar("step_size", step_size), memory.projections.dtype)
    return _descend(memory, memory.as_state(state), step_limit("max_steps", max_steps), size)


@jax.jit
def _descend(memory: FeatureMemory, state: State, max_steps, size) -> Retrieval:
    def step(x):
        return x - size * jax.grad(memory.energy)(x)

    end = settled(step, state, max_steps, near(tolerance(state.dtype), state))
    return Retrieval(end.state, end.steps, memory.energy(end.state), end.status)


@partial(jax.jit, static_argnums=(1, 2, 3))
def _projections(key, count: int, neurons: int, orthogonal: bool) -> Float[Array, "K N"]:
    """Normal vectors, or directions at right angles N at a time with the lengths of normal vectors."""
    drawn = jax.random.normal(key, (count, neurons))
    if not orthogonal:
        return drawn
    turn_key, length_key = jax.random.split(key)
    blocks = -(-count // neurons)
    # One at a time: two programs that factor stacks of matrices in two threads wait for each other (jaxlib 0.10, CPU).
    turns = jax.lax.map(lambda x: jnp.linalg.qr(x)[0], jax.random.normal(turn_key, (blocks, neurons, neurons)))
    turns = turns.reshape(-1, neurons)[:count]
    lengths = safe_norm(jax.random.normal(length_key, (count, neurons)), axis=1, keepdims=True)
    return turns * lengths

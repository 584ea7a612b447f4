"""The Hopfield update of many queries at once, each stopping for itself, and its fixed point as an implicit function.

    ξ' = Σ_μ p_μ k_μ,  p = ∇F(β ξ g k)          E(ξ) = ½ ξ g ξ − F(β ξ g k)/β

With a function φ of the scores, p = ∇F(φ(β ξ g k)), ξ' = Σ_μ p_μ φ'_μ k_μ and E has F ∘ φ in the place of F.
Rows are laid out [*b, H, T, D], heads before positions. For F convex and g symmetric, positive semi-definite the update
is one step of the concave–convex procedure, so that E never rises.

Each query and head sees a `hopfield.Memory` of its keys. `jax.vmap` of the memory would copy the keys for every row of
a mask, at ten times the time; here scores are one matrix product, in the layer's type.
"""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
from flax import struct
from flax.typing import PrecisionLike
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float

from hopfield._arrays import row_products, same_rank, softmax_read, weighted_rows
from hopfield._numerics import accumulation_dtype
from hopfield._pytrees import Node
from hopfield.attention import core
from hopfield.dynamics.fixed_points import implicit, neumann
from hopfield.dynamics.settling import Settled, near, settled, unrolled
from hopfield.layers._separations import for_each_head
from hopfield.metrics import Metric
from hopfield.separations import Separation

States = Float[Array, "*b H T D"]


class KeyMemory(Node):
    """Memory that queries are compared with: keys with slots last, their mask, and the way they are compared."""

    key: Float[Array, "*b H S D"]
    beta: Float[Array, "*h"]
    mask: Bool[Array, "*b H T S"] | None = None
    bias: Float[Array, "*b H T S"] | None = None
    metric: Metric | None = None
    separation: Separation = core.SOFTMAX
    score: Callable[[Array], Array] | None = struct.field(pytree_node=False, default=None)
    slots: int = struct.field(pytree_node=False, default=0)
    precision: PrecisionLike = struct.field(pytree_node=False, default=None)

    def scores(self, state: States) -> Float[Array, "*b H T S"]:
        """Scores φ(β ξ g k) + bias [*b, H, T, S], in at least float32; slots score 0, whatever the metric."""
        products = self._products(state)
        if self.score is not None:
            products = self.score(products)
            products = products.at[..., products.shape[-1] - self.slots :].set(0.0) if self.slots else products
        return products if self.bias is None else jnp.add(*same_rank(products, self.bias.astype(products.dtype)))

    def _products(self, state: States) -> Float[Array, "*b H T S"]:
        dtype = accumulation_dtype(state.dtype)
        beta = self.beta[..., None, None].astype(dtype)
        key = self.key
        if self.metric is not None:
            state, key = self.metric.left(state), self.metric.right(key)
            key = key.at[..., key.shape[-2] - self.slots :, :].set(0.0) if self.slots else key
        state, beta = same_rank(state.astype(dtype), beta)
        if key.dtype == accumulation_dtype(key.dtype):
            return row_products((state * beta).astype(key.dtype), key, self.precision, dtype)
        # a product with β would be rounded to 16 bits, or beyond their range
        return row_products(state.astype(key.dtype), key, self.precision, dtype) * beta

    def weights(self, state: States) -> Float[Array, "*b H T S"]:
        """Weights p = ∇F(β ξ g k) [*b, H, T, S], zero where masked."""
        function = lambda separation, scores, mask: core.weights(scores, separation=separation, mask=mask)
        return for_each_head(function, self.separation, self.scores(state), self.mask)

    def update(self, state: States) -> States:
        """States after one step, ξ' = Σ p φ' k [*b, H, T, D], with the slope φ' of a function of scores."""
        if self.score is None:
            return self.read(state, self.key).astype(state.dtype)
        products = self._products(state)
        _, slopes = jax.jvp(self.score, (products,), (jnp.ones_like(products),))
        moved = (self.weights(state) * slopes).astype(self.key.dtype)
        return weighted_rows(moved, self.key, self.precision).astype(state.dtype)

    def read(self, state: States, value: Float[Array, "*b H S V"]) -> Float[Array, "*b H T V"]:
        """Read-out Σ p v [*b, H, T, V] of rows v in the place of the keys."""
        if self.separation.is_softmax and value.dtype == accumulation_dtype(state.dtype):
            scores = self.scores(state)
            scores, mask = core.broadcast_with_mask(scores, self.mask)
            return softmax_read(scores if mask is None else jnp.where(mask, scores, -jnp.inf), value, self.precision)
        return weighted_rows(self.weights(state).astype(value.dtype), value, self.precision)

    def potential(self, state: States) -> Float[Array, "*b H T"]:
        """Potential F(β ξ g k)/β of every query. It is −∞ for a query that may read no key."""
        scores = self.scores(state)
        mask = None if self.mask is None else jnp.broadcast_to(self.mask, scores.shape)
        function = lambda separation, scores, mask: core.by_row(separation.potential, scores, mask)
        potential = for_each_head(function, self.separation, scores, mask)
        potential, beta = same_rank(potential, self.beta[..., None].astype(scores.dtype))
        return potential / beta

    def energy(self, state: States) -> Float[Array, "*b H T"]:
        """Energy E(ξ) = ½ ξ g ξ − F(β ξ g k)/β of every query. It is +∞ for a query that may read no key."""
        potential = self.potential(state)
        left, right = (state, state) if self.metric is None else (self.metric.left(state), self.metric.right(state))
        return 0.5 * jnp.sum((left * right).astype(potential.dtype), axis=-1) - potential


@partial(jax.jit, static_argnames=("steps",))
def iterate(stored: KeyMemory, state: States, steps: int, rtol: ArrayLike) -> Settled:
    """States after at most `steps` updates, each query stopping for itself; all are stored for the reverse mode."""
    start = _broadcast_queries(stored, state)
    return unrolled(stored.update, start, steps, near(rtol, start))


@jax.jit
def settle(stored: KeyMemory, state: States, steps: ArrayLike, rtol: ArrayLike) -> Settled:
    """Result of `iterate`, whose loop ends as soon as every query has stopped. It is not differentiable in reverse."""
    start = _broadcast_queries(stored, state)
    return settled(stored.update, start, steps, near(rtol, start))


def _broadcast_queries(stored: KeyMemory, state: States) -> States:
    """Queries, broadcast to the leading axes of the memory's sequences and heads."""
    return jnp.broadcast_to(state, jnp.broadcast_shapes(state.shape[:-2], stored.key.shape[:-2]) + state.shape[-2:])


@partial(jax.jit, static_argnames=("steps",))
def fixed_points(stored: KeyMemory, state: States, steps: int, rtol: ArrayLike) -> States:
    """States after at most `steps` updates, differentiated as the fixed points they are taken to have reached.

    The inverse is summed as a Neumann series of `steps` terms beyond the first.
    """
    start = jax.lax.stop_gradient(_broadcast_queries(stored, state))
    return implicit(stored.update, start, lambda x: settle(stored, x, steps, rtol).state, neumann(steps))

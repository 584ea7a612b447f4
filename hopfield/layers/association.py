"""How queries are associated with keys, as a module that `nnx.MultiHeadAttention(attention_fn=…)` accepts."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from flax import nnx
from flax.nnx.nn.dtypes import promote_dtype as promoted
from flax.typing import Dtype, PrecisionLike, PromoteDtypeFn
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float, Int

from hopfield._checks import number, one_of, whole
from hopfield._numerics import is_traced, tolerance
from hopfield.attention._arguments import allowed_by_head
from hopfield.attention.masks import Mask
from hopfield.layers._iteration import KeyMemory, fixed_points, iterate, settle
from hopfield.layers._options import GRADIENTS, Buffer, InverseTemperature, MetricLike, chosen_metric
from hopfield.observables import thermodynamics
from hopfield.separations import Separation

Heads = Float[Array, "*b T H D"]
Scores = Float[Array, "*b H T S"]
MaskLike = Bool[Array, "*b H T S"] | Mask | None


class AssociationReport(NamedTuple):
    """What a layer found, on request: weights [*b, H, T, S], and the rest per head and query [*b, H, T]."""

    weights: Scores
    energy: Float[Array, "*b H T"]
    """E = ½ ξ g ξ − F(β ξ g k)/β of the state that is read."""
    entropy: Float[Array, "*b H T"]
    """Shannon's, of the weights, in nats."""
    steps: Int[Array, "*b H T"]
    """Updates that moved the state; the read-out is not one of them."""
    status: Int[Array, "*b H T"]
    """Index of `dynamics.STATUS`; the step limit where update_steps = 1, as nothing is iterated."""


class HopfieldAssociation(nnx.Module):
    """Scores, weights and read-out of a layer, with what it learns about them. Built by `attention_fn`.

    With its defaults it computes what `nnx.dot_product_attention` does; a query that may read no key gets zeros.
    """

    def __init__(
        self,
        num_heads: int,
        head_features: int,
        *,
        num_kv_heads: int | None = None,
        metric: MetricLike = None,
        metric_per_head: bool = True,
        metric_rank: int | None = None,
        separation: Separation | str = "softmax",
        beta: ArrayLike | None = None,
        learn_beta: bool = False,
        update_steps: int = 1,
        rtol: float | None = None,
        gradient: str = "unrolled",
        memory_slots: int = 0,
        param_dtype: Dtype = jnp.float32,
        rngs: nnx.Rngs | None = None,
    ):
        num_heads, head_features = whole("num_heads", num_heads), whole("head_features", head_features)
        if rtol is not None:
            number("rtol", rtol, "a finite number of at least 0", 0.0)
        self.num_heads, self.update_steps, self.rtol = num_heads, whole("update_steps", update_steps), rtol
        self.gradient = one_of("gradient", gradient, GRADIENTS)
        self.separation = Buffer(separation)
        self.beta = InverseTemperature(beta, num_heads, head_features, learn_beta, param_dtype)
        rngs = nnx.Rngs(0) if rngs is None else rngs
        heads = num_heads if metric_per_head else None
        self.metric = nnx.data(chosen_metric(metric, head_features, heads, metric_rank, param_dtype, rngs))
        shape = (num_kv_heads or num_heads, whole("memory_slots", memory_slots, 0), head_features)
        self.slots = nnx.data(nnx.Param(jnp.zeros(shape, param_dtype)) if memory_slots else None)

    def __call__(
        self,
        query: Heads,
        key: Float[Array, "*b S K D"],
        value: Float[Array, "*b S K D"],
        bias: Scores | None = None,
        mask: MaskLike = None,
        broadcast_dropout: bool = True,
        dropout_rng: Array | None = None,
        dropout_rate: float = 0.0,
        deterministic: bool = False,
        dtype: Dtype | None = None,
        precision: PrecisionLike = None,
        module: nnx.Module | None = None,
        promote_dtype: PromoteDtypeFn = promoted,
        is_causal: bool = False,
    ) -> Heads:
        """Read-out of every query; arguments as in `nnx.dot_product_attention`."""
        query, key, value = promote_dtype((query, key, value), dtype=dtype)  # type: ignore[misc]
        mask, bias = _of_flax(mask, bias)
        stored = self.stored(query, key, mask, bias=bias, is_causal=is_causal, precision=precision)
        state = self._moved(stored, jnp.swapaxes(query, -3, -2))
        weights = stored.weights(state).astype(value.dtype)
        if module is not None:
            module.sow(nnx.Intermediate, "attention_weights", weights)
        if not deterministic and dropout_rate > 0.0:
            weights = _dropped(weights, dropout_rng, dropout_rate, broadcast_dropout, query.ndim)
        value = self._by_head(value, None if self.slots is None else self.slots[...])
        return jnp.swapaxes(jnp.matmul(weights, value, precision=precision), -3, -2)

    def inspect(
        self,
        query: Heads,
        key: Float[Array, "*b S K D"],
        mask: MaskLike = None,
        *,
        bias: Scores | None = None,
        is_causal: bool = False,
        precision: PrecisionLike = None,
    ) -> AssociationReport:
        """Weights, energy, entropy and retrieval status of every query; the slots' weights stand last."""
        stored = self.stored(query, key, mask, bias=bias, is_causal=is_causal, precision=precision)
        state = jnp.swapaxes(query, -3, -2)
        return _inspected(stored, state, self.update_steps - 1, self._rtol(state))

    def stored(
        self,
        query: Heads,
        key: Float[Array, "*b S K D"],
        mask: MaskLike = None,
        *,
        bias: Scores | None = None,
        is_causal: bool = False,
        precision: PrecisionLike = None,
    ) -> KeyMemory:
        """The memory that the queries are compared with, slots included."""
        if query.shape[-1] != key.shape[-1]:
            raise ValueError(
                f"key must have the query's width {query.shape[-1]} per head, got {key.shape[-1]} (axis -1)"
            )
        if query.shape[-2] != self.num_heads or self.num_heads % key.shape[-2]:
            raise ValueError(
                f"query must have {self.num_heads} heads and key a number that divides it, "
                f"got {query.shape[-2]} and {key.shape[-2]} (axis -2)"
            )
        where = _allowed(mask, is_causal, query.shape[-3], key.shape[-3], query.ndim)
        slots = 0 if self.slots is None else self.slots.shape[-2]
        where, bias = (_padded(x, key.shape[-3], slots, fill) for x, fill in ((where, True), (bias, 0)))
        empty = None if self.slots is None else jnp.zeros_like(self.slots[...])  # no key, so the score is zero
        metric = None if self.metric is None else jax.tree.map(lambda leaf: leaf.astype(key.dtype), self.metric())
        key = self._by_head(key, empty)
        return KeyMemory(key, self.beta(), where, bias, metric, self.separation(), precision=precision)

    def _moved(self, stored: KeyMemory, state: Float[Array, "*b H T D"]) -> Float[Array, "*b H T D"]:
        """The queries after all steps but the one that reads."""
        if self.update_steps == 1:
            return state
        if self.gradient == "implicit":
            return fixed_points(stored, state, self.update_steps - 1, self._rtol(state))
        return iterate(stored, state, self.update_steps - 1, self._rtol(state)).state

    def _by_head(self, rows: Float[Array, "*b S K D"], slots: Array | None) -> Float[Array, "*b H S D"]:
        """Rows by head, with the slots' own appended, repeated for the query heads that share them."""
        rows = jnp.swapaxes(rows, -3, -2)
        if slots is not None:
            slots = jnp.broadcast_to(slots.astype(rows.dtype), (*rows.shape[:-2], *slots.shape[-2:]))
            rows = jnp.concatenate([rows, slots], axis=-2)
        share = self.num_heads // rows.shape[-3]
        return rows if share == 1 else jnp.repeat(rows, share, axis=-3)

    def _rtol(self, state: Array) -> float:
        return tolerance(state.dtype) if self.rtol is None else self.rtol


def attention_fn(
    num_heads: int,
    head_features: int,
    *,
    num_kv_heads: int | None = None,
    metric: MetricLike = None,
    metric_per_head: bool = True,
    metric_rank: int | None = None,
    separation: Separation | str = "softmax",
    beta: ArrayLike | None = None,
    learn_beta: bool = False,
    update_steps: int = 1,
    rtol: float | None = None,
    gradient: str = "unrolled",
    memory_slots: int = 0,
    param_dtype: Dtype = jnp.float32,
    rngs: nnx.Rngs | None = None,
) -> HopfieldAssociation:
    """What makes `nnx.MultiHeadAttention(attention_fn=…)` a Hopfield layer; it is trained along with it.

    Args:
        num_heads, head_features: H, and D = qkv_features / H, of the layer it goes into.
        num_kv_heads: heads of keys and values, H if None; needed for memory slots only.
        metric: how a query is compared with a key: a name of `layers.metrics.KINDS` to learn it, a `LearnedMetric`, or
            a fixed `bilinear.Metric` or matrix, [D, D] or [H, D, D]; None for the dot product.
        metric_per_head, metric_rank: one learned metric per head or one for all; rank of "low_rank" and "projected".
        separation: a `Separation`, or its name, such as "softmax", "sparsemax", "entmax:1.5", "top_k:8".
        beta: β > 0, a number or one per head [H]; 1/√D if None.
        learn_beta: train β, one per head, positive by construction, starting at `beta`.
        update_steps: applications of the association: all but the last move the query, the last one reads.
        rtol: step, relative to the state's norm, below which a query stops; from the precision if None.
        gradient: "unrolled" through every step, or "implicit" at the fixed point, with no memory for the steps.
        memory_slots: places for weight that no key deserves: score 0, learned values that start as zeros.
        param_dtype: of what is learned.
        rngs: for a "low_rank" metric only.
    Raises:
        ValueError: an argument outside its range or an unknown name, in one sentence.
    """
    return HopfieldAssociation(
        num_heads,
        head_features,
        num_kv_heads=num_kv_heads,
        metric=metric,
        metric_per_head=metric_per_head,
        metric_rank=metric_rank,
        separation=separation,
        beta=beta,
        learn_beta=learn_beta,
        update_steps=update_steps,
        rtol=rtol,
        gradient=gradient,
        memory_slots=memory_slots,
        param_dtype=param_dtype,
        rngs=rngs,
    )


@jax.jit
def _inspected(
    stored: KeyMemory, state: Float[Array, "*b H T D"], steps: ArrayLike, rtol: ArrayLike
) -> AssociationReport:
    found = settle(stored, state, steps, rtol)
    weights = stored.weights(found.state)
    entropy = thermodynamics.entropy(weights)
    return AssociationReport(weights, stored.energy(found.state), entropy, found.steps, found.status)


def _of_flax(mask: MaskLike, bias: Scores | None) -> tuple[MaskLike, Scores | None]:
    """Mask and bias of a mask of numbers, in which Flax hands over 1 where a key may be read and 0 where not.

    Any other number, such as the −∞ of masks that are added, is refused, or makes the scores NaN where it is traced.
    """
    if mask is None or isinstance(mask, Mask) or jnp.asarray(mask).dtype == bool:
        return mask, bias
    numbers = jnp.asarray(mask)
    known = jnp.all((numbers == 0) | (numbers == 1))
    if not is_traced(known) and not bool(known):
        raise ValueError("mask must be boolean, or 0 and 1 as Flax makes it, got other numbers")
    spoilt = jnp.where(known, 0.0, jnp.nan)
    return (numbers == 1) | ~known, spoilt if bias is None else bias + spoilt


def _allowed(mask: MaskLike, is_causal: bool, queries: int, keys: int, rank: int) -> Bool[Array, "*b H T S"] | None:
    """Mask and causality together."""
    where = allowed_by_head(mask, queries, keys, rank)
    if not is_causal:
        return where
    causal = jnp.tril(jnp.ones((queries, keys), bool))
    return causal if where is None else where & causal.reshape((1,) * (where.ndim - 2) + causal.shape)


def _padded(x: Array | None, keys: int, slots: int, fill: bool | int) -> Array | None:
    """A mask or bias over the keys, extended over the slots."""
    if x is None or not slots:
        return x
    x = jnp.broadcast_to(x, (*x.shape[:-1], keys))
    return jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, slots)], constant_values=fill)


def _dropped(weights: Array, key: Array | None, rate: float, broadcast: bool, rank: int) -> Array:
    """Dropout of the weights, the same that `nnx.dot_product_attention_weights` draws from the same key."""
    if key is None:
        raise ValueError("dropout_rng must be a random key where weights are dropped, got None")
    shape = (1,) * (rank - 2) + weights.shape[-2:] if broadcast else weights.shape
    keep = jax.random.bernoulli(key, 1.0 - rate, shape)
    return weights * (keep.astype(weights.dtype) / jnp.asarray(1.0 - rate, weights.dtype))

"""HopfieldAttention: `nnx.MultiHeadAttention` with metric, separation, β and number of steps to choose or learn."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import jax.numpy as jnp
from flax import nnx
from flax.nnx.nn.dtypes import promote_dtype
from flax.nnx.nn.linear import default_kernel_init
from flax.typing import Dtype, Initializer, PrecisionLike, PromoteDtypeFn
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._checks import number, whole
from hopfield._numerics import real_array
from hopfield.attention._arguments import allowed_by_head, sequences
from hopfield.attention.masks import Mask, spread
from hopfield.layers._options import MetricLike
from hopfield.layers.association import AssociationReport, HopfieldAssociation, MaskLike
from hopfield.separations import Separation

Inputs = Float[Array, "*b T F"]
NONE: Mapping[str, Any] = MappingProxyType({})


class HopfieldAttention(nnx.MultiHeadAttention):
    """Multi-head association of queries with stored patterns; with its defaults `nnx.MultiHeadAttention` to rounding.

    Inputs are projected to queries ξ, keys k and values v of H heads. Each query moves `update_steps` − 1 times to
    Σ p k, p = ∇F(β ξ g k), and then reads Σ p v. Options of Flax keep their names and meaning. Queries that may read no
    key get zeros, where Flax averages all values.

    Source: Ramsauer et al. 2021, eqs. 3 and 10; metric g, Kataru 2026, eq. 13.
    """

    attention_fn: HopfieldAssociation

    def __init__(
        self,
        num_heads: int,
        in_features: int,
        qkv_features: int | None = None,
        out_features: int | None = None,
        num_kv_heads: int | None = None,
        in_kv_features: int | None = None,
        *,
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
        dtype: Dtype | None = None,
        param_dtype: Dtype = jnp.float32,
        broadcast_dropout: bool = True,
        dropout_rate: float = 0.0,
        deterministic: bool | None = None,
        precision: PrecisionLike = None,
        kernel_init: Initializer = default_kernel_init,
        out_kernel_init: Initializer | None = None,
        bias_init: Initializer = nnx.initializers.zeros_init(),  # noqa: B008 - a pure function
        out_bias_init: Initializer | None = None,
        use_bias: bool = True,
        decode: bool | None = False,
        normalize_qk: bool = False,
        qkv_promote_dtype: PromoteDtypeFn = promote_dtype,
        out_promote_dtype: PromoteDtypeFn = promote_dtype,
        ln_promote_dtype: PromoteDtypeFn = promote_dtype,
        rngs: nnx.Rngs,
        keep_rngs: bool = True,
        kernel_metadata: Mapping[str, Any] = NONE,
        out_kernel_metadata: Mapping[str, Any] = NONE,
        bias_metadata: Mapping[str, Any] = NONE,
        out_bias_metadata: Mapping[str, Any] = NONE,
        query_ln_scale_metadata: Mapping[str, Any] = NONE,
        key_ln_scale_metadata: Mapping[str, Any] = NONE,
    ):
        """The options that Flax does not have; all others are those of `nnx.MultiHeadAttention`.

        Args:
            metric: how queries are compared with keys: "diagonal", "low_rank", "definite", "full" or "projected" to
                learn it, a `LearnedMetric`, or a fixed `bilinear.Metric` or matrix [D, D] or [H, D, D]; None for q · k.
            metric_per_head: one learned metric per head, or one that all heads share.
            metric_rank: rank of a "low_rank" or "projected" metric.
            separation: a `Separation` or its name, such as "softmax", "sparsemax", "entmax:1.5", "top_k:8".
            beta: β > 0, a number or one per head [H]; 1/√D if None.
            learn_beta: train β, one per head, positive by construction, starting at `beta`.
            update_steps: applications of the association, the last of which reads the values.
            rtol: step, relative to the state, below which a query stops moving; from the precision if None.
            gradient: "unrolled" through the steps, or "implicit" at the fixed point, with no memory for them.
            memory_slots: places for weight that no key deserves: score 0, learned values starting as zeros.
        Raises:
            ValueError: heads that do not divide the features, or an option outside its range.
        """
        qkv = whole("in_features", in_features) if qkv_features is None else whole("qkv_features", qkv_features)
        number("dropout_rate", dropout_rate, "in [0, 1)", 0.0, 1.0 - 1e-9)
        if whole("num_heads", num_heads) > qkv or qkv % num_heads:
            raise ValueError(f"num_heads must divide the {qkv} query, key and value features, got {num_heads}")
        if num_kv_heads is not None and (num_kv_heads < 1 or num_heads % num_kv_heads):
            raise ValueError(f"num_kv_heads must divide the {num_heads} heads, got {num_kv_heads}")
        associate = HopfieldAssociation(
            num_heads,
            qkv // num_heads,
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
        super().__init__(
            num_heads,
            in_features,
            qkv_features,
            out_features,
            num_kv_heads,
            in_kv_features,
            dtype=dtype,
            param_dtype=param_dtype,
            broadcast_dropout=broadcast_dropout,
            dropout_rate=dropout_rate,
            deterministic=deterministic,
            precision=precision,
            kernel_init=kernel_init,
            out_kernel_init=out_kernel_init,
            bias_init=bias_init,
            out_bias_init=out_bias_init,
            use_bias=use_bias,
            attention_fn=associate,
            decode=decode,
            normalize_qk=normalize_qk,
            qkv_promote_dtype=qkv_promote_dtype,
            out_promote_dtype=out_promote_dtype,
            ln_promote_dtype=ln_promote_dtype,
            rngs=rngs,
            keep_rngs=keep_rngs,
            kernel_metadata=kernel_metadata,
            out_kernel_metadata=out_kernel_metadata,
            bias_metadata=bias_metadata,
            out_bias_metadata=out_bias_metadata,
            query_ln_scale_metadata=query_ln_scale_metadata,
            key_ln_scale_metadata=key_ln_scale_metadata,
        )

    def __call__(
        self,
        inputs_q: Inputs,
        inputs_k: Inputs | None = None,
        inputs_v: Inputs | None = None,
        *,
        mask: MaskLike = None,
        deterministic: bool | None = None,
        rngs: nnx.Rngs | nnx.RngStream | None = None,
        sow_weights: bool = False,
        decode: bool | None = None,
        is_causal: bool = False,
        out_sharding=None,
        qkv_sharding=None,
    ) -> Float[Array, "*b T O"]:
        """The read-out of every query [*b, T, out_features]; other arguments as in `nnx.MultiHeadAttention`.

        Args:
            decode: read one token and the cache; beyond the length it was made for, the read-out is NaN.
            mask: True where a key may be read: a boolean array with all axes [*b, H, T, S], of length 1 where it holds
                for all, or a `Mask` of the sequences *b, whose query stands at the end of the cache in decoding.
        Raises:
            ValueError: inputs of another width than the layer was built for; a mask of numbers or of fewer axes.
        """
        inputs_q = self._checked("inputs_q", inputs_q, self.in_features)
        if inputs_k is not None or inputs_v is None:
            keys = self._checked("inputs_k", inputs_q if inputs_k is None else inputs_k, self.in_kv_features)
            inputs_k = None if inputs_k is None else keys
        inputs_v = None if inputs_v is None else self._checked("inputs_v", inputs_v, self.value_features)
        full = self._full(decode)
        output = super().__call__(
            inputs_q,
            inputs_k,
            inputs_v,
            mask=self._mask(mask, inputs_q, inputs_q if inputs_k is None else inputs_k, decode),
            deterministic=deterministic,
            rngs=rngs,
            sow_weights=sow_weights,
            decode=decode,
            is_causal=is_causal,
            out_sharding=out_sharding,
            qkv_sharding=qkv_sharding,
        )
        return output if full is None else jnp.where(full, jnp.nan, output)

    def inspect(
        self,
        inputs_q: Inputs,
        inputs_k: Inputs | None = None,
        *,
        mask: MaskLike = None,
        is_causal: bool = False,
    ) -> AssociationReport:
        """Weights, energy, entropy, steps and retrieval status of every query and head, without dropout or cache."""
        inputs_k = inputs_q if inputs_k is None else inputs_k
        inputs_q = self._checked("inputs_q", inputs_q, self.in_features)
        inputs_k = self._checked("inputs_k", inputs_k, self.in_kv_features)
        query, key = self.query(inputs_q), self.key(inputs_k)
        if self.query_ln is not None and self.key_ln is not None:
            query, key = self.query_ln(query), self.key_ln(key)
        mask = self._mask(mask, inputs_q, inputs_k, False)
        return self.attention_fn.inspect(query, key, mask, is_causal=is_causal, precision=self.precision)

    def energy(
        self, inputs_q: Inputs, inputs_k: Inputs | None = None, *, mask: MaskLike = None, is_causal: bool = False
    ) -> Float[Array, "*b H T"]:
        """E = ½ ξ g ξ − F(β ξ g k)/β of the state each query reads with; it never rises with `update_steps`."""
        return self.inspect(inputs_q, inputs_k, mask=mask, is_causal=is_causal).energy

    @property
    def value_features(self) -> int:
        """Width of what values are projected from, `in_kv_features` unless weights were imported that differ."""
        return self.value.in_features[-1]

    def _mask(self, mask: MaskLike, inputs_q: Array, inputs_k: Array, decode: bool | None) -> Array | None:
        """The mask with all axes of the scores, over the cache in decoding."""
        queries, keys, rank, offset = inputs_q.shape[-2], inputs_k.shape[-2], inputs_q.ndim + 1, 0
        cached = self.decode if decode is None else decode
        if cached and self.cached_key is not None and self.cache_index is not None:
            keys, offset = self.cached_key.shape[-3], self.cache_index[...]
        if isinstance(mask, Mask):
            mask = spread(sequences(mask, rank - 3).dense(queries, keys, offset), rank)
        return allowed_by_head(mask, queries, keys, rank)

    def _full(self, decode: bool | None) -> Array | None:
        """Whether the cache has no place left for the next token, None without a cache."""
        if not (self.decode if decode is None else decode) or self.cached_key is None or self.cache_index is None:
            return None
        return self.cache_index[...] >= self.cached_key.shape[-3]

    def _checked(self, name: str, inputs: Array, width: int) -> Array:
        found = real_array(name, inputs, self.param_dtype)
        if found.ndim < 2:
            raise ValueError(f"{name} must be tokens [..., T, {width}], got shape {found.shape}")
        if found.shape[-1] != width:
            raise ValueError(f"{name} must have {width} features, got {found.shape[-1]} (axis -1)")
        return found

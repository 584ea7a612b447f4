"""HopfieldAttention: `nnx.MultiHeadAttention` with separation, metric, β, steps and positions to choose or learn."""

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
from flax import nnx
from flax.nnx.module import first_from
from flax.nnx.nn.dtypes import promote_dtype
from flax.nnx.nn.linear import default_kernel_init
from flax.typing import Dtype, Initializer, PrecisionLike, PromoteDtypeFn
from jaxtyping import Array, Float, Int

from hopfield._arguments import flag, instance, integer, real_array, real_scalar
from hopfield._arrays import common_axes
from hopfield.layers._cache import append_tokens, next_places
from hopfield.layers._draws import dropout_of
from hopfield.layers._places import over_sequences, turns_once
from hopfield.layers._scope import Heads, MaskLike, Scores, check_tokens, scope_of, scope_of_window
from hopfield.layers.association import AssociationReport, HopfieldAssociation, read
from hopfield.layers.options import DEFAULT, NONE, AssociationOptions, points_to_options

Inputs = Float[Array, "*b T F"]
MOST_WEIGHTS = 2**40
"""Most weights of a projection: beyond, XLA ends the process instead of refusing."""


class HopfieldAttention(nnx.MultiHeadAttention):
    """Multi-head association of queries with stored patterns; with its defaults `nnx.MultiHeadAttention` to rounding.

    Inputs are projected to queries ξ, keys k and values v of H heads. Each query moves `update_steps` − 1 times to
    Σ p k, p = ∇F(β ξ g k), and then reads Σ p v. Arguments of Flax keep their names and meaning, all others are in
    `options`. Queries that may read no key get zeros, where Flax averages all values.

    Example:
        >>> layer = HopfieldAttention(2, 8, options=AssociationOptions(positions="rotary"), rngs=nnx.Rngs(0))
        >>> layer(jnp.ones((1, 5, 8))).shape
        (1, 5, 8)

    Source: Ramsauer et al. 2021, eqs. 3 and 10; metric g, Kataru 2026, eq. 13.
    """

    attention_fn: HopfieldAssociation

    @points_to_options
    def __init__(
        self,
        num_heads: int,
        in_features: int,
        qkv_features: int | None = None,
        out_features: int | None = None,
        num_kv_heads: int | None = None,
        in_kv_features: int | None = None,
        *,
        options: AssociationOptions = DEFAULT,
        dtype: Dtype | None = None,
        param_dtype: Dtype = jnp.float32,
        broadcast_dropout: bool = True,
        dropout_rate: float = 0.0,
        deterministic: bool | None = None,
        precision: PrecisionLike = None,
        kernel_init: Initializer = default_kernel_init,
        out_kernel_init: Initializer | None = None,
        bias_init: Initializer = nnx.initializers.zeros_init(),
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
    ) -> None:
        """`options` belong to the association, all other arguments to `nnx.MultiHeadAttention`.

        Raises:
            ValueError: heads that do not divide the features, or an option that does not fit them.
            TypeError: rngs that are no `nnx.Rngs`, as a number or a key.
        """
        qkv = integer("in_features", in_features) if qkv_features is None else integer("qkv_features", qkv_features)
        integer("out_features", 1 if out_features is None else out_features)
        integer("in_kv_features", 1 if in_kv_features is None else in_kv_features)
        widest = max(in_features, out_features or 1, in_kv_features or 1)
        if widest * qkv > MOST_WEIGHTS:
            raise ValueError(
                f"in_features and qkv_features must multiply to at most 2^40 weights, got {widest} × {qkv}"
            )
        real_scalar("dropout_rate", dropout_rate, "in [0, 1)", 0.0, 1.0 - 1e-9)
        if integer("num_heads", num_heads) > qkv or qkv % num_heads:
            raise ValueError(f"num_heads must divide the {qkv} query, key and value features, got {num_heads}")
        if num_kv_heads is not None and (num_kv_heads < 1 or num_heads % num_kv_heads):
            raise ValueError(f"num_kv_heads must divide the {num_heads} heads, got {num_kv_heads}")
        switches = {"broadcast_dropout": broadcast_dropout, "use_bias": use_bias, "normalize_qk": normalize_qk}
        for name, value in (switches | {"keep_rngs": keep_rngs}).items():
            flag(name, value)
        instance("rngs", rngs, nnx.Rngs)
        associate = HopfieldAssociation(
            num_heads, qkv // num_heads, options, num_kv_heads=num_kv_heads, param_dtype=param_dtype, rngs=rngs
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
        bias: Scores | None = None,
        deterministic: bool | None = None,
        rngs: nnx.Rngs | nnx.RngStream | None = None,
        sow_weights: bool = False,
        decode: bool | None = None,
        is_causal: bool = False,
        positions: Int[Array, "*b T"] | None = None,
        out_sharding: Any = None,
        qkv_sharding: Any = None,
    ) -> Float[Array, "*b T O"]:
        """The read-out of every query [*b, T, out_features]. Other arguments as in `nnx.MultiHeadAttention`.

        Inputs that all sequences share, as stored patterns [S, F], are projected once.

        Args:
            decode: read the tokens and the cache, causally, any number of tokens at a time; beyond the length it was
                made for they are refused, or their read-out is NaN where the call is traced, as under `nnx.jit`,
                unless the layer has a window, whose decoding has no end.
            positions: of the tokens, [T] or one row per sequence [*b, T], for encodings that turn or are added. In
                decoding also their places in the cache, each sequence going on behind its largest one; tokens below
                zero are padding, which nothing reads.
            mask: True where a key may be read: a boolean array with all axes [*b, H, T, S], of length 1 for an axis
                that shares one mask, or a `Mask` of the sequences *b, whose query stands at the end of the cache in
                decoding.
            bias: real numbers added to the scores, broadcast to [*b, H, T, S].
        Raises:
            ValueError: inputs of another width than the layer was built for; a mask of numbers or of fewer axes.
        """
        decoding = flag(
            "decode", first_from(decode, self.decode, error_msg="decode must be given, as an argument or to the layer")
        )
        places = self._places(inputs_q, inputs_k, positions, decoding)
        query, key, value = self._queries_keys_values(inputs_q, inputs_k, inputs_v, places, sharding=qkv_sharding)
        start, full, given, turned = 0, None, positions is not None, False
        if decoding:
            query, key, turned = self._turned(query, key, places)
            key, value, start, full = append_tokens(self, (key, value), self.attention_fn.kept, places, given)
        together = decoding and not given and places.ndim == 1
        offset, places = (places[0], None) if together else (0, places)
        query, key, value = promote_dtype((query, key, value), dtype=self.dtype)
        if decoding and self.attention_fn.window is not None:
            scope = scope_of_window(mask, bias, query.ndim, offset, start)
        else:
            past = is_causal or bool(decoding)
            scope = scope_of(mask, bias, query.shape, key.shape[-3], is_causal=past, offset=offset)
        scope = scope.replace(turned=turned, **{"positions" if decoding else "restarts": places})
        dropout, module = dropout_of(self, deterministic, rngs), self if sow_weights else None
        output = read(self.attention_fn, query, key, value, scope, dropout, precision=self.precision, module=module)
        output = self.out(output, out_sharding=out_sharding)
        return output if full is None else jnp.where(full[..., None], jnp.nan, output)

    def init_cache(self, input_shape: tuple[int, ...], dtype: Dtype = jnp.float32) -> None:
        """Allocates the decoding cache for inputs [*b, T, F]: T positions, or those that a window keeps."""
        kept = self.attention_fn.kept
        length = input_shape[-2] if kept is None else sum(kept)
        super().init_cache((*input_shape[:-2], length, input_shape[-1]), dtype)

    def inspect(
        self,
        inputs_q: Inputs,
        inputs_k: Inputs | None = None,
        *,
        mask: MaskLike = None,
        bias: Scores | None = None,
        is_causal: bool = False,
    ) -> AssociationReport:
        """Weights, energy, entropy, steps and retrieval status of every query and head, without dropout or cache."""
        query, key, _ = self._queries_keys_values(inputs_q, inputs_k, None, None)
        return self.attention_fn.inspect(query, key, mask, bias=bias, is_causal=is_causal, precision=self.precision)

    def energy(
        self,
        inputs_q: Inputs,
        inputs_k: Inputs | None = None,
        *,
        mask: MaskLike = None,
        bias: Scores | None = None,
        is_causal: bool = False,
    ) -> Float[Array, "*b H T"]:
        """E = ½ ξ g ξ − F(β ξ g k + bias)/β of the state each query reads with; never rises with `update_steps`."""
        return self.inspect(inputs_q, inputs_k, mask=mask, bias=bias, is_causal=is_causal).energy

    @property
    def value_features(self) -> int:
        """Width of the inputs of values: `in_kv_features`, unless imported weights have another."""
        return self.value.in_features[-1]

    def _places(self, inputs_q: Inputs, inputs_k: Inputs | None, given: Any, decoding: bool) -> Any:
        """Places of tokens in the cache, or positions as they are given, None for 0, 1, …"""
        if given is None:
            return next_places(self, jnp.shape(inputs_q)[-2]) if decoding else None
        if inputs_k is not None and not decoding:
            raise ValueError("positions must be left out where keys are other inputs, whose positions they are not")
        return jnp.asarray(given)

    def _turned(self, query: Heads, key: Heads, places: Array) -> tuple[Array, Array, bool]:
        """Queries and keys turned by their places, and whether they are: before keys are kept, if once is enough."""
        encoding = None if self.attention_fn.positions is None else self.attention_fn.positions()
        if encoding is None or not turns_once(encoding):
            return query, key, False
        turn = lambda rows: jnp.swapaxes(over_sequences(encoding.rotate, jnp.swapaxes(rows, -3, -2), places), -3, -2)
        return turn(query), turn(key), True

    def _queries_keys_values(
        self,
        inputs_q: Array,
        inputs_k: Array | None,
        inputs_v: Array | None,
        places: Array | None,
        *,
        sharding: Any = None,
    ) -> tuple[Array, Array, Array]:
        """Queries, keys and values by head. Positions are added to all inputs except separately given values."""
        if inputs_k is None and inputs_v is not None:
            raise ValueError("inputs_k must be given with inputs_v; alone it stands for both, got None")
        query = self.project_queries(inputs_q, places, sharding)
        key, value = self.project_stored(inputs_q if inputs_k is None else inputs_k, inputs_v, places, sharding)
        leading = common_axes("inputs_q, inputs_k and inputs_v", *(x.shape[:-3] for x in (query, key, value)))
        if query.ndim - 3 < len(leading):  # once they are projected; keys that sequences share stay as they are
            query = jnp.broadcast_to(query, (*leading, *query.shape[-3:]))
        return query, key, value

    def project_queries(self, inputs_q: Inputs, places: Array | None = None, sharding: Any = None) -> Heads:
        """Queries by head [*b, T, H, D], at places 0, 1, … if None."""
        query = self.query(self._placed("inputs_q", inputs_q, self.in_features, places), out_sharding=sharding)
        return query if self.query_ln is None else self.query_ln(query)

    def project_stored(
        self, inputs_k: Inputs, inputs_v: Inputs | None, places: Array | None = None, sharding: Any = None
    ) -> tuple[Array, Array]:
        """Keys and values by head [*b, S, K, D]."""
        keys = self._placed("inputs_k", inputs_k, self.in_kv_features, places)
        values = keys if inputs_v is None else self._tokens("inputs_v", inputs_v, self.value_features)
        if values.shape[-2] != keys.shape[-2]:
            raise ValueError(f"inputs_v must have one row per key, {keys.shape[-2]}, got {values.shape[-2]} (axis -2)")
        key = self.key(keys, out_sharding=sharding)
        return (key if self.key_ln is None else self.key_ln(key)), self.value(values, out_sharding=sharding)

    def _placed(self, name: str, inputs: Array, width: int, places: Array | None) -> Array:
        """Inputs with the positions that are added to them."""
        tokens = self._tokens(name, inputs, width)
        if self.attention_fn.positions is None:
            return tokens
        places = jnp.arange(tokens.shape[-2]) if places is None else places
        return over_sequences(self.attention_fn.positions().add_to_inputs, tokens, places)

    def _tokens(self, name: str, inputs: Inputs, width: int) -> Array:
        """Inputs [*b, T, width] as an array. ValueError, naming them, for any other."""
        tokens = real_array(name, inputs, self.param_dtype)
        check_tokens(name, tokens, width)
        return tokens

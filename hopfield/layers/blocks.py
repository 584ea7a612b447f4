"""Encoder and decoder blocks around any association: pre-norm residual layers with a two-layer perceptron."""

import dataclasses
from types import UnionType
from typing import Any, get_args

import jax
import jax.numpy as jnp
from flax import nnx
from flax.typing import Dtype
from jaxtyping import Array, Float, Int

from hopfield._arguments import instance, integer, real_scalar, shown
from hopfield._arrays import with_rank
from hopfield.attention.masks import Mask, causal
from hopfield.attention.sequence_masks import segments as of_segments
from hopfield.layers._scope import MaskLike, Scores
from hopfield.layers.association import AssociationReport
from hopfield.layers.attention import HopfieldAttention, Inputs
from hopfield.layers.pooling import Hopfield, HopfieldLayer
from hopfield.layers.recurrent import RecurrentMemory

SelfAssociation = HopfieldAttention | Hopfield | HopfieldLayer | RecurrentMemory
CausalAssociation = HopfieldAttention | Hopfield | RecurrentMemory
CrossAssociation = HopfieldAttention | Hopfield


@dataclasses.dataclass(frozen=True, kw_only=True)
class Call:
    """Arguments of a block's call beside the tokens, handed on to an association that knows them."""

    mask: MaskLike = None
    bias: Scores | None = None
    positions: Int[Array, "*b T"] | None = None
    segments: Int[Array, "*b T"] | None = None
    is_causal: bool = False
    decode: bool | None = None
    deterministic: bool = True
    rngs: nnx.Rngs | None = None

    def of(self, association: "SelfAssociation", x: Array) -> Array:
        """Output of an association for the tokens. ValueError for arguments without a meaning in it."""
        if isinstance(association, RecurrentMemory):
            self._refuse(association, "mask", "bias")
            places = {"segments": self.segments, "positions": self.positions}
            return association(x, **places, decode=bool(self.decode))
        if isinstance(association, HopfieldLayer):
            self._refuse(association, "segments", "is_causal")
        mask = self.mask if self.segments is None else _both(self.mask, of_segments(self.segments), x)
        options: dict[str, Any] = {"bias": self.bias, "deterministic": self.deterministic, "rngs": self.rngs}
        if isinstance(association, HopfieldAttention):
            places = {"positions": self.positions, "is_causal": self.is_causal, "decode": self.decode}
            return association(x, mask=mask, **places, **options)
        self._refuse(association, "positions", "decode")
        return association(x, mask=_both(mask, causal(), x) if self.is_causal else mask, **options)

    def _refuse(self, association: "SelfAssociation", *names: str) -> None:
        for name in names:
            if getattr(self, name) is not None and getattr(self, name) is not False:
                raise ValueError(f"{name} must be left out with a {type(association).__name__}, which has none")


def _both(mask: MaskLike, rule: Mask, x: Array) -> MaskLike:
    """Keys that a mask and a rule of sequences both allow."""
    if mask is None or isinstance(mask, Mask):
        return rule if mask is None else mask & rule
    mask = jnp.asarray(mask)
    return mask & with_rank(rule.dense(x.shape[-2], x.shape[-2]), mask.ndim)


class EncoderBlock(nnx.Module):
    """x + association(norm x), then x + perceptron(norm x).

    Example:
        >>> from flax import nnx
        >>> from hopfield.layers import EncoderBlock, HopfieldAttention
        >>> rngs = nnx.Rngs(0)
        >>> EncoderBlock(HopfieldAttention(2, 8, rngs=rngs), 16, rngs=rngs)(jnp.ones((1, 5, 8))).shape
        (1, 5, 8)
    """

    def __init__(
        self,
        attention: SelfAssociation,
        mlp_features: int | None = None,
        *,
        dropout_rate: float = 0.0,
        dtype: Dtype | None = None,
        param_dtype: Dtype = jnp.float32,
        rngs: nnx.Rngs,
    ) -> None:
        """Build the block.

        Args:
            attention: `HopfieldAttention`, `Hopfield`, `HopfieldLayer` or `RecurrentMemory`, whose inputs and outputs
                have one width F.
            mlp_features: hidden width of the perceptron, 4 F if None.
            dropout_rate: of what is added to x, active where the block is called with deterministic=False.
        Raises:
            ValueError: the association's outputs cannot be added to its inputs.
        """
        instance("rngs", rngs, nnx.Rngs)
        features = _features("attention", attention, SelfAssociation)
        self.attention = attention
        self.attention_norm = nnx.LayerNorm(features, dtype=dtype, param_dtype=param_dtype, rngs=rngs)
        self.mlp = Perceptron(features, mlp_features, dtype=dtype, param_dtype=param_dtype, rngs=rngs)
        self.mlp_norm = nnx.LayerNorm(features, dtype=dtype, param_dtype=param_dtype, rngs=rngs)
        real_scalar("dropout_rate", dropout_rate, "in [0, 1)", 0.0, 1.0 - 1e-9)
        self.dropout = nnx.Dropout(dropout_rate, deterministic=True, rngs=rngs)

    def __call__(
        self,
        x: Inputs,
        *,
        mask: MaskLike = None,
        bias: Scores | None = None,
        positions: Int[Array, "*b T"] | None = None,
        segments: Int[Array, "*b T"] | None = None,
        is_causal: bool = False,
        decode: bool | None = None,
        deterministic: bool = True,
        rngs: nnx.Rngs | None = None,
    ) -> Float[Array, "*b T F"]:
        """The tokens [*b, T, F] after the block.

        Args:
            x: tokens.
            segments: ids of documents packed into one sequence, [T] or [*b, T]; tokens read their own document.
            mask, bias, positions, is_causal, decode: as for the association; decoding follows `init_cache`.
            deterministic, rngs: dropout, as in Flax.
        Raises:
            ValueError: an argument without a meaning in the association.
        """
        call = Call(
            mask=mask,
            bias=bias,
            positions=positions,
            segments=segments,
            is_causal=is_causal,
            decode=decode,
            deterministic=deterministic,
            rngs=rngs,
        )
        dropped = lambda change: self.dropout(change, deterministic=deterministic, rngs=rngs)
        x = x + dropped(call.of(self.attention, self.attention_norm(x)))
        return x + dropped(self.mlp(self.mlp_norm(x)))

    def init_cache(self, input_shape: tuple[int, ...]) -> None:
        """Starts decoding of inputs [*b, T, F], as the association does. TypeError for one that decodes nothing."""
        _init_cache(self.attention, input_shape)

    def inspect(self, x: Inputs, *, mask: MaskLike = None, bias: Scores | None = None) -> AssociationReport:
        """Weights, energy, entropy and retrieval status of the block's association, which must have weights."""
        if isinstance(self.attention, RecurrentMemory):
            raise TypeError("attention must have weights to inspect, got a RecurrentMemory, which holds a matrix")
        return self.attention.inspect(self.attention_norm(x), mask=mask, bias=bias)


class DecoderBlock(nnx.Module):
    """Causal self-association, association with an encoder's output, and a perceptron, each added to x.

    Example:
        >>> from flax import nnx
        >>> from hopfield.layers import DecoderBlock, HopfieldAttention
        >>> rngs = nnx.Rngs(0)
        >>> attention, cross = HopfieldAttention(2, 8, rngs=rngs), HopfieldAttention(2, 8, rngs=rngs)
        >>> DecoderBlock(attention, cross, 16, rngs=rngs)(jnp.ones((1, 5, 8)), jnp.ones((1, 3, 8))).shape
        (1, 5, 8)
    """

    def __init__(
        self,
        attention: CausalAssociation,
        cross: CrossAssociation,
        mlp_features: int | None = None,
        *,
        dropout_rate: float = 0.0,
        dtype: Dtype | None = None,
        param_dtype: Dtype = jnp.float32,
        rngs: nnx.Rngs,
    ) -> None:
        """See `EncoderBlock`; `cross` takes its stored patterns from the encoder, of any width."""
        instance("rngs", rngs, nnx.Rngs)
        features, cross_features = (
            _features("attention", attention, CausalAssociation),
            _features("cross", cross, CrossAssociation),
        )
        if cross_features != features:
            raise ValueError(f"cross must have attention's {features} features, got {cross_features}")
        self.attention, self.cross = attention, cross
        self.attention_norm = nnx.LayerNorm(features, dtype=dtype, param_dtype=param_dtype, rngs=rngs)
        self.cross_norm = nnx.LayerNorm(features, dtype=dtype, param_dtype=param_dtype, rngs=rngs)
        self.mlp = Perceptron(features, mlp_features, dtype=dtype, param_dtype=param_dtype, rngs=rngs)
        self.mlp_norm = nnx.LayerNorm(features, dtype=dtype, param_dtype=param_dtype, rngs=rngs)
        real_scalar("dropout_rate", dropout_rate, "in [0, 1)", 0.0, 1.0 - 1e-9)
        self.dropout = nnx.Dropout(dropout_rate, deterministic=True, rngs=rngs)

    def __call__(
        self,
        x: Inputs,
        encoded: Inputs,
        *,
        mask: MaskLike = None,
        cross_mask: MaskLike = None,
        bias: Scores | None = None,
        cross_bias: Scores | None = None,
        positions: Int[Array, "*b T"] | None = None,
        segments: Int[Array, "*b T"] | None = None,
        decode: bool | None = None,
        deterministic: bool = True,
        rngs: nnx.Rngs | None = None,
    ) -> Float[Array, "*b T F"]:
        """The tokens [*b, T, F] after the block.

        Args:
            x: tokens; encoded: the encoder's output [*b, S, E].
            mask: tokens that may be read, causal if None.
            cross_mask: encoded positions that may be read.
            bias, cross_bias: added to the scores of the one and of the other.
            positions, segments, decode: of the tokens, as for `EncoderBlock`; in decoding the encoder's output is read
                at every call.
            deterministic, rngs: dropout, as in Flax.
        """
        call = Call(
            mask=mask,
            bias=bias,
            positions=positions,
            segments=segments,
            is_causal=mask is None,
            decode=decode,
            deterministic=deterministic,
            rngs=rngs,
        )
        dropped = lambda change: self.dropout(change, deterministic=deterministic, rngs=rngs)
        x = x + dropped(call.of(self.attention, self.attention_norm(x)))
        options: dict[str, Any] = {"mask": cross_mask, "bias": cross_bias, "deterministic": deterministic}
        x = x + dropped(self.cross(self.cross_norm(x), encoded, **options, rngs=rngs))
        return x + dropped(self.mlp(self.mlp_norm(x)))

    def init_cache(self, input_shape: tuple[int, ...]) -> None:
        """Starts decoding of inputs [*b, T, F], as the self-association does."""
        _init_cache(self.attention, input_shape)


class Perceptron(nnx.Module):
    """W₂ gelu(W₁ x + b₁) + b₂."""

    def __init__(
        self, features: int, hidden: int | None = None, *, dtype: Dtype | None, param_dtype: Dtype, rngs: nnx.Rngs
    ) -> None:
        hidden = 4 * features if hidden is None else integer("mlp_features", hidden, 1)
        self.inner = nnx.Linear(features, hidden, dtype=dtype, param_dtype=param_dtype, rngs=rngs)
        self.outer = nnx.Linear(hidden, features, dtype=dtype, param_dtype=param_dtype, rngs=rngs)

    def __call__(self, x: Inputs) -> Inputs:
        return self.outer(jax.nn.gelu(self.inner(x)))


def _init_cache(association: SelfAssociation, input_shape: tuple[int, ...]) -> None:
    if not isinstance(association, HopfieldAttention | RecurrentMemory):
        raise TypeError(
            f"attention must be a HopfieldAttention or a RecurrentMemory to decode, got {shown(association)}"
        )
    association.init_cache(input_shape)


def _features(name: str, association: SelfAssociation, kinds: UnionType) -> int:
    """Number of an association's input features. Raises ValueError unless its outputs have as many."""
    if not isinstance(association, kinds):
        named = ", ".join(kind.__name__ for kind in get_args(kinds))
        raise TypeError(f"{name} must be one of {named}, got {shown(association)}")
    wrapped = association.hopfield if isinstance(association, HopfieldLayer) else association
    if isinstance(wrapped, RecurrentMemory):
        return wrapped.in_features
    inner = wrapped.attention if isinstance(wrapped, Hopfield) else wrapped
    if inner.in_features != inner.out_features:
        raise ValueError(
            f"{name} must have as many output as input features ({inner.in_features}), got {inner.out_features}"
        )
    return inner.in_features

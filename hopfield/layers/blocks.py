"""Encoder and decoder blocks around any association: pre-norm residual layers with a two-layer perceptron."""

from types import UnionType
from typing import get_args

import jax
import jax.numpy as jnp
from flax import nnx
from flax.typing import Dtype
from jaxtyping import Array, Float

from hopfield._arguments import instance, integer, real_scalar, shown
from hopfield.attention.masks import causal
from hopfield.layers._scope import MaskLike, Scores
from hopfield.layers.association import AssociationReport
from hopfield.layers.attention import HopfieldAttention, Inputs
from hopfield.layers.pooling import Hopfield, HopfieldLayer

SelfAssociation = HopfieldAttention | Hopfield | HopfieldLayer
CrossAssociation = HopfieldAttention | Hopfield


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
            attention: `HopfieldAttention`, `Hopfield` or `HopfieldLayer` whose inputs and outputs have one width F.
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
        self, x: Inputs, *, mask: MaskLike = None, bias: Scores | None = None, deterministic: bool = True
    ) -> Float[Array, "*b T F"]:
        """The tokens [*b, T, F] after the block; `mask` and `bias` as for the association."""
        attended = self.attention(self.attention_norm(x), mask=mask, bias=bias, deterministic=deterministic)
        x = x + self.dropout(attended, deterministic=deterministic)
        return x + self.dropout(self.mlp(self.mlp_norm(x)), deterministic=deterministic)

    def inspect(self, x: Inputs, *, mask: MaskLike = None, bias: Scores | None = None) -> AssociationReport:
        """Weights, energy, entropy and retrieval status of the block's association."""
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
        attention: CrossAssociation,
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
            _features("attention", attention, CrossAssociation),
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
        deterministic: bool = True,
    ) -> Float[Array, "*b T F"]:
        """The tokens [*b, T, F] after the block.

        Args:
            x: tokens; encoded: the encoder's output [*b, S, E].
            mask: tokens that may be read, causal if None.
            cross_mask: encoded positions that may be read.
            bias, cross_bias: added to the scores of the one and of the other.
        """
        mask = causal() if mask is None else mask
        attended = self.attention(self.attention_norm(x), mask=mask, bias=bias, deterministic=deterministic)
        x = x + self.dropout(attended, deterministic=deterministic)
        queries = self.cross_norm(x)
        attended = self.cross(queries, encoded, mask=cross_mask, bias=cross_bias, deterministic=deterministic)
        x = x + self.dropout(attended, deterministic=deterministic)
        return x + self.dropout(self.mlp(self.mlp_norm(x)), deterministic=deterministic)


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


def _features(name: str, association: SelfAssociation, kinds: UnionType) -> int:
    """Number of an association's input features. Raises ValueError unless its outputs have as many."""
    if not isinstance(association, kinds):
        named = ", ".join(kind.__name__ for kind in get_args(kinds))
        raise TypeError(f"{name} must be one of {named}, got {shown(association)}")
    wrapped = association.hopfield if isinstance(association, HopfieldLayer) else association
    inner = wrapped.attention if isinstance(wrapped, Hopfield) else wrapped
    if inner.in_features != inner.out_features:
        raise ValueError(
            f"{name} must have as many output as input features ({inner.in_features}), got {inner.out_features}"
        )
    return inner.in_features

"""AdditiveAssociation: scores of a small network, not of products, for `nnx.MultiHeadAttention(attention_fn=…)`."""

import jax
import jax.numpy as jnp
from flax import nnx
from flax.typing import Dtype, PrecisionLike
from jaxtyping import Array, Bool, Float

from hopfield._arguments import instance, integer
from hopfield._arrays import unread_as_zero, with_bias
from hopfield._numerics import wide
from hopfield.attention.core import masked_weights
from hopfield.attention.kernels import additive_scores
from hopfield.layers._draws import Dropout
from hopfield.layers._fixed import FixedTree
from hopfield.layers._scope import Heads, MaskLike, Scope, Scores, by_head, check_heads, scope_of
from hopfield.layers.attention_function import AttentionFunction
from hopfield.separations import Separation, as_separation


class AdditiveAssociation(AttentionFunction):
    """Scores v · tanh(q W_q + k W_k + b), with separate weights in every head.

    For `nnx.MultiHeadAttention(attention_fn=…)`. Luong's "general" score q W k is the metric "full" of
    `AssociationOptions`, "dot" the layer without one, and "concat" this one. No energy belongs to it, and it holds
    T · S · R numbers for each head.

    Example:
        >>> associate = AdditiveAssociation(2, 4, rngs=nnx.Rngs(0))
        >>> layer = nnx.MultiHeadAttention(2, 8, decode=False, attention_fn=associate, rngs=nnx.Rngs(0))
        >>> layer(jnp.ones((1, 5, 8))).shape
        (1, 5, 8)

    Source: Bahdanau, Cho & Bengio 2015, appendix A.1.2; Luong, Pham & Manning 2015, §3.1.
    """

    def __init__(
        self,
        num_heads: int,
        head_features: int,
        hidden: int | None = None,
        *,
        separation: Separation | str = "softmax",
        param_dtype: Dtype = jnp.float32,
        rngs: nnx.Rngs,
    ) -> None:
        """`hidden` is R, `head_features` if None; W and v start with deviation 1/√fan-in, b with zeros."""
        self.num_heads, width = integer("num_heads", num_heads), integer("head_features", head_features)
        hidden = width if hidden is None else integer("hidden", hidden)
        instance("rngs", rngs, nnx.Rngs)
        draw = nnx.initializers.normal(1.0)
        shapes = {
            "w_query": (num_heads, width, hidden),
            "w_key": (num_heads, width, hidden),
            "vector": (num_heads, hidden),
        }
        drawn = {name: draw(rngs.params(), shape, param_dtype) / shape[1] ** 0.5 for name, shape in shapes.items()}
        self.w_query, self.w_key = nnx.Param(drawn["w_query"]), nnx.Param(drawn["w_key"])
        self.vector, self.bias = nnx.Param(drawn["vector"]), nnx.Param(jnp.zeros((num_heads, hidden), param_dtype))
        self.separation = FixedTree(as_separation(separation), constant=True)

    def read_heads(
        self,
        query: Heads,
        key: Float[Array, "*b S K D"],
        value: Float[Array, "*b S K D"],
        *,
        scope: Scope,
        dropout: Dropout | None = None,
        precision: PrecisionLike = None,
        module: nnx.Module | None = None,
    ) -> Heads:
        weights, allowed = self._weights(query, key, scope)
        weights = weights.astype(value.dtype)
        if module is not None:
            module.sow(nnx.Intermediate, "attention_weights", weights)
        if dropout is not None:
            weights = dropout.applied(weights, weights.shape[-2])
        (value,) = unread_as_zero(allowed, by_head(jnp.swapaxes(value, -2, -3), self.num_heads))
        return jnp.swapaxes(jnp.matmul(weights, value, precision=precision), -2, -3)

    def weights(
        self,
        query: Heads,
        key: Float[Array, "*b S K D"],
        mask: MaskLike = None,
        *,
        bias: Scores | None = None,
        is_causal: bool = False,
    ) -> Scores:
        """Weights [*b, H, T, S]."""
        scope = scope_of(mask, bias, query.shape, key.shape[-3], is_causal=is_causal)
        return self._weights(query, key, scope)[0]

    def _weights(
        self, query: Heads, key: Float[Array, "*b S K D"], scope: Scope
    ) -> tuple[Scores, Bool[Array, "*b H T S"] | None]:
        """Weights, and the keys that may be read."""
        check_heads(query, key, self.num_heads)
        rows, columns = (by_head(jnp.swapaxes(x, -2, -3), self.num_heads) for x in (query, key))
        allowed = scope.allowed(jnp.arange(rows.shape[-2]), columns.shape[-2], max(rows.ndim, columns.ndim))
        (columns,) = unread_as_zero(allowed, columns)
        parameters = (x[...] for x in (self.w_query, self.w_key, self.vector, self.bias))
        scores = jax.vmap(additive_scores, in_axes=(-3, -3, 0, 0, 0, 0), out_axes=-3)(rows, columns, *parameters)
        scores = wide(scores) if scope.bias is None else with_bias(wide(scores), scope.bias)
        return masked_weights(scores, self.separation.value, allowed), allowed

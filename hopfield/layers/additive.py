"""AdditiveAssociation: scores of a small network in place of products, as what `nnx.MultiHeadAttention` takes."""

import jax
import jax.numpy as jnp
from flax import nnx
from flax.nnx.nn.dtypes import promote_dtype as promoted
from flax.typing import Dtype, PrecisionLike, PromoteDtypeFn
from jaxtyping import Array, Float

from hopfield._checks import whole
from hopfield.attention._arguments import with_bias
from hopfield.attention._draws import kept_rows
from hopfield.attention.core import masked_weights
from hopfield.attention.kernels import additive_scores
from hopfield.layers._scope import Heads, MaskLike, Scores, of_flax, scope_of
from hopfield.layers.options import Buffer
from hopfield.separations import Separation


class AdditiveAssociation(nnx.Module):
    """Scores v · tanh(q W_q + k W_k + b), with weights of its own for every head.

    Luong's "general" score q W k is the metric "full" of `AssociationOptions`, "dot" the layer without one, and
    "concat" this one. No energy belongs to it, and its memory is that of T · S · R numbers for each head.

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
    ):
        """`hidden` is R, `head_features` if None; W and v start with deviation 1/√fan-in, b with zeros."""
        self.num_heads, width = whole("num_heads", num_heads), whole("head_features", head_features)
        hidden = width if hidden is None else whole("hidden", hidden)
        draw = nnx.initializers.normal(1.0)
        shapes = {
            "w_query": (num_heads, width, hidden),
            "w_key": (num_heads, width, hidden),
            "vector": (num_heads, hidden),
        }
        drawn = {name: draw(rngs.params(), shape, param_dtype) / shape[1] ** 0.5 for name, shape in shapes.items()}
        self.w_query, self.w_key = nnx.Param(drawn["w_query"]), nnx.Param(drawn["w_key"])
        self.vector, self.bias = nnx.Param(drawn["vector"]), nnx.Param(jnp.zeros((num_heads, hidden), param_dtype))
        self.separation = Buffer(separation)

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
        weights = self.weights(query, key, mask, bias=bias, is_causal=is_causal).astype(value.dtype)
        if module is not None:
            module.sow(nnx.Intermediate, "attention_weights", weights)
        if not deterministic and dropout_rate > 0.0:
            if dropout_rng is None:
                raise ValueError("dropout_rng must be a random key where weights are dropped, got None")
            shape = (*(1 for _ in weights.shape[:-2]), *weights.shape[-2:]) if broadcast_dropout else weights.shape
            keep = kept_rows(dropout_rng, dropout_rate, shape, 0, weights.shape[-2])
            weights = weights * keep.astype(weights.dtype) / (1.0 - dropout_rate)
        return jnp.swapaxes(jnp.matmul(weights, _by_head(value, self.num_heads), precision=precision), -2, -3)

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
        mask, bias = of_flax(mask, bias)
        scope = scope_of(mask, bias, query.shape[-3], key.shape[-3], query.ndim, is_causal=is_causal)
        rows, columns = _by_head(query, self.num_heads), _by_head(key, self.num_heads)
        parameters = (x[...] for x in (self.w_query, self.w_key, self.vector, self.bias))
        scores = jax.vmap(additive_scores, in_axes=(-3, -3, 0, 0, 0, 0), out_axes=-3)(rows, columns, *parameters)
        scores = scores if scope.bias is None else with_bias(scores, scope.bias)
        allowed = scope.allowed(jnp.arange(scores.shape[-2]), scores.shape[-1], scores.ndim)
        return masked_weights(scores, self.separation.value, allowed)


def _by_head(x: Array, heads: int) -> Array:
    """Rows by head [*b, H, T, D], those that heads share repeated."""
    return jnp.repeat(jnp.swapaxes(x, -2, -3), heads // x.shape[-2], axis=-3)

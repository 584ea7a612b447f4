"""AttentionFunction: the base class of modules for `nnx.MultiHeadAttention(attention_fn=…)`, user-defined ones too."""

import abc
import math

from flax import nnx
from flax.nnx.nn.dtypes import promote_dtype as promoted
from flax.typing import Dtype, PrecisionLike, PromoteDtypeFn
from jaxtyping import Array, Float

from hopfield._arguments import real_scalar
from hopfield.layers._reading import Dropout
from hopfield.layers._scope import Heads, MaskLike, Scope, Scores, of_flax, scope_of

BELOW_ONE = math.nextafter(1.0, 0.0)


class AttentionFunction(nnx.Module, abc.ABC):
    """Attention function: a module called with the arguments of `nnx.dot_product_attention`, in its place.

    A subclass says how heads are read, in `read_heads`; masks, causality, bias and dropout come to it checked.

    Example:
        >>> from hopfield import attention
        >>> class Nearest(AttentionFunction):
        ...     def read_heads(self, query, key, value, *, scope, dropout=None, precision=None, module=None):
        ...         query, key, value = (jnp.swapaxes(x, -2, -3) for x in (query, key, value))
        ...         scores = -9 * jnp.sum((query[..., :, None, :] - key[..., None, :, :]) ** 2, -1)
        ...         allowed = scope.allowed(jnp.arange(scores.shape[-2]), scores.shape[-1], scores.ndim)
        ...         return jnp.swapaxes(attention.weights(scores, mask=allowed) @ value, -2, -3)
        >>> rows = jnp.arange(3.0).reshape(1, 3, 1, 1)
        >>> Nearest()(rows + 0.9, rows, rows, is_causal=True).round(2).ravel().tolist()
        [0.0, 1.0, 2.0]
    """

    @abc.abstractmethod
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
        """Read-out of every query.

        Args:
            query, key, value: by head; heads of keys may be fewer, by a factor.
            scope: `scope.allowed(rows, keys, rank)` says which keys the queries `rows` may read [*b, H, T, S], None for
                all; `scope.bias` is what is added to their scores, or None.
            dropout: `dropout.applied(weights, queries)` drops weights; None where none are.
            precision: of matrix products.
            module: if given, sows the weights under "attention_weights".
        """

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
        """Read-out of every query. Arguments as in `nnx.dot_product_attention`."""
        query, key, value = promote_dtype((query, key, value), dtype=dtype)  # type: ignore[misc]
        if value.shape[:-1] != key.shape[:-1]:
            raise ValueError(f"value must have the axes {list(key.shape[:-1])} of key, got {list(value.shape[:-1])}")
        mask, bias = of_flax(mask, bias)
        scope = scope_of(mask, bias, query.shape, key.shape[-3], is_causal=is_causal)
        dropout = None
        real_scalar("dropout_rate", dropout_rate, "a share of at least 0 and below 1", 0.0, BELOW_ONE)
        if not deterministic and dropout_rate > 0.0:
            if dropout_rng is None:
                raise ValueError("dropout_rng must be a random key where weights are dropped, got None")
            dropout = Dropout(dropout_rng, dropout_rate, broadcast_dropout)
        return self.read_heads(query, key, value, scope=scope, dropout=dropout, precision=precision, module=module)

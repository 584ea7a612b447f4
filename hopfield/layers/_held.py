"""Stored patterns that are projected once and held, for layers that read them many times and do not train them."""

from flax import nnx
from flax.nnx.nn.dtypes import promote_dtype
from jaxtyping import Array, Float

from hopfield.layers._draws import dropout_of
from hopfield.layers._scope import MaskLike, Scores, scope_of
from hopfield.layers.association import read
from hopfield.layers.attention import HopfieldAttention, Inputs


class Held(nnx.Module):
    """Keys and values by head of stored patterns [S, F], as an attention projects them at this moment."""

    def __init__(self, attention: HopfieldAttention, stored: Inputs, projection: Inputs) -> None:
        key, value = attention.project_stored(stored, projection)
        self.key, self.value = nnx.Cache(key), nnx.Cache(value)

    def look_up(
        self,
        attention: HopfieldAttention,
        inputs: Inputs,
        *,
        mask: MaskLike = None,
        bias: Scores | None = None,
        deterministic: bool | None = None,
        rngs: nnx.Rngs | None = None,
    ) -> Float[Array, "*b T O"]:
        """Read-out of every query [*b, T, out_features]."""
        query = attention.project_queries(inputs)
        query, key, value = promote_dtype((query, self.key[...], self.value[...]), dtype=attention.dtype)
        scope = scope_of(mask, bias, query.shape, key.shape[-3])
        dropout = dropout_of(attention, deterministic, rngs)
        return attention.out(
            read(attention.attention_fn, query, key, value, scope, dropout, precision=attention.precision)
        )

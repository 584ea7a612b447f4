"""Projections of heads: the weights that make queries, keys and values of inputs, drawn and applied."""

import jax
from jaxtyping import Array, Float

from hopfield._arguments import integer, random_key, real_array, real_rows
from hopfield._arrays import product
from hopfield._pytrees import Node


class Projections(Node):
    """Weights (and biases) that map inputs to queries, keys and values, and the heads' read-out to the output.

    Example:
        >>> from hopfield.attention import Projections, multi_head
        >>> w = jnp.ones((2, 3, 2))  # two heads of width 2 over inputs of width 3
        >>> heads = Projections(w, w, w, jnp.ones((2, 2, 3)))
        >>> multi_head(heads, jnp.ones((4, 3))).shape
        (4, 3)
    """

    query: Float[Array, "H N R"]
    key: Float[Array, "K N R"]
    value: Float[Array, "K N V"]
    output: Float[Array, "H V O"]
    query_bias: Float[Array, "H R"] | None = None
    key_bias: Float[Array, "K R"] | None = None
    value_bias: Float[Array, "K V"] | None = None
    output_bias: Float[Array, "O"] | None = None

    @classmethod
    def random(
        cls, key: Array, heads: int, width: int, *, kv_heads: int | None = None, head_width: int | None = None
    ) -> "Projections":
        """Random weights of deviation 1/√fan-in and no biases, so that a projected unit is of order one.

        Args:
            key: random key.
            heads: H. kv_heads: K, which divides H; H if None.
            width: N of inputs and outputs.
            head_width: R of queries and keys and V of values; N / H if None, which H then has to divide.
        Raises:
            ValueError: numbers of heads that do not divide.
        """
        heads, width = integer("heads", heads), integer("width", width)
        stored = heads if kv_heads is None else integer("kv_heads", kv_heads)
        if heads % stored:
            raise ValueError(f"kv_heads must divide the {heads} heads, got {kv_heads}")
        if head_width is None and width % heads:
            raise ValueError(f"heads must divide the width {width} unless head_width is given, got {heads}")
        rank = width // heads if head_width is None else integer("head_width", head_width)
        shapes = [(heads, width, rank), (stored, width, rank), (stored, width, rank), (heads, rank, width)]
        fans = (width, width, width, heads * rank)
        keys = jax.random.split(random_key("key", key), 4)
        drawn = [jax.random.normal(k, shape) / fan**0.5 for k, shape, fan in zip(keys, shapes, fans, strict=True)]
        return cls(*drawn)


def project_heads(
    x: Float[Array, "*b T N"], weight: Float[Array, "H N R"], bias: Float[Array, "H R"] | None = None, *, name: str = ""
) -> Float[Array, "*b H T R"]:
    """Projections x W^h + b^h of inputs for every head."""
    x, weight = real_rows("x", x, 2), real_array("weight", weight)
    bias = None if bias is None else real_array("bias", bias)
    if weight.ndim != 3 or weight.shape[1] != x.shape[-1]:
        raise ValueError(f"{name} projection must be [heads, {x.shape[-1]}, R], got shape {weight.shape}".lstrip())
    projected = product(x[..., None, :, :], weight)
    if bias is None:
        return projected
    return projected + bias[:, None, :].reshape((1,) * (projected.ndim - 3) + (bias.shape[0], 1, bias.shape[1]))

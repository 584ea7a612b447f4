"""RecurrentMemory: a sequence read through fast weights, a state of constant size in the place of a cache of keys.

linear attention   RecurrentMemory(H, F, rule="outer")           gated, RetNet's kind: gated=True
delta network      RecurrentMemory(H, F, rule="delta")           gated delta network: gated=True
"""

from typing import Any, Literal

import jax
import jax.numpy as jnp
from flax import nnx
from flax.typing import Dtype
from jaxtyping import Array, Float

from hopfield._arguments import flag, instance, integer, one_of, real_array
from hopfield._numerics import accumulation_dtype
from hopfield.attention.fast_weights import FastWeights
from hopfield.layers._scope import check_tokens

SMALL = 1e-6


class RecurrentMemory(nnx.Module):
    """A layer that writes every token into a matrix per head, S ← a S + s k (v − a kᵀS)ᵀ, and reads it with qᵀS.

    Queries, keys and values are projections of tokens, mixed with those just before them by a short causal
    convolution; queries and keys have unit length. Strengths s in (0, 1) of the rule "delta" and decays a in (0, 1)
    if `gated` are functions of the token, one per head. What is read is normalised by head and projected.

    Example:
        >>> from flax import nnx
        >>> from hopfield.layers import RecurrentMemory
        >>> RecurrentMemory(2, 8, rngs=nnx.Rngs(0))(jnp.ones((1, 5, 8))).shape
        (1, 5, 8)

    Source: Schlag et al. 2021 (arXiv:2102.11174); in chunks Yang et al. 2024 (arXiv:2406.06484); gated Yang, Kautz &
    Hatamizadeh 2025 (arXiv:2412.06464). How many pairs a head holds: `hopfield.theory.linear.capacity`.
    """

    def __init__(
        self,
        num_heads: int,
        in_features: int,
        *,
        rule: Literal["outer", "delta"] = "delta",
        gated: bool = False,
        convolution: int = 4,
        param_dtype: Dtype = jnp.float32,
        rngs: nnx.Rngs,
    ) -> None:
        """Build the layer.

        Args:
            num_heads: of width in_features / num_heads.
            rule: "delta" writes over what a key reads, "outer" adds to it.
            gated: whether the memory fades, by a decay for each token and head, 0.95 to 0.5 at the start.
            convolution: tokens that a projection is mixed from, its own the last; 1 for none.
        Raises:
            ValueError: heads that do not divide the features, or an unknown rule.
        """
        instance("rngs", rngs, nnx.Rngs)
        self.num_heads, self.in_features = integer("num_heads", num_heads), integer("in_features", in_features)
        self.rule, self.gated = one_of("rule", rule, ("outer", "delta")), flag("gated", gated)
        self.reach = integer("convolution", convolution) - 1
        if in_features % num_heads:
            raise ValueError(f"num_heads must divide the {in_features} features, got {num_heads}")
        linear = lambda outputs, bias: nnx.Linear(
            in_features, outputs, use_bias=bias, param_dtype=param_dtype, rngs=rngs
        )
        self.projection, self.out = linear(3 * in_features, False), linear(in_features, False)
        start = nnx.initializers.normal((self.reach + 1) ** -0.5)
        self.filter = nnx.Param(start(rngs.params(), (self.reach + 1, 3 * in_features), param_dtype))
        self.strength = nnx.data(linear(num_heads, True) if rule == "delta" else None)
        self.decay: Any = nnx.data(linear(num_heads, True) if gated else None)
        if gated:
            self.decay.bias[...] = jnp.linspace(3.0, 0.0, num_heads, dtype=param_dtype)
        self.norm = nnx.RMSNorm(in_features // num_heads, param_dtype=param_dtype, rngs=rngs)
        self.matrix: Any = nnx.data(None)
        self.recent: Any = nnx.data(None)

    def init_cache(self, input_shape: tuple[int, ...]) -> None:
        """Starts decoding of inputs [*b, T, F] with an empty memory; its size does not depend on T."""
        leading, width = tuple(input_shape[:-2]), self.in_features // self.num_heads
        dtype = self.filter[...].dtype
        self.matrix = nnx.data(
            nnx.Cache(jnp.zeros((*leading, self.num_heads, width, width), accumulation_dtype(dtype)))
        )
        self.recent = nnx.data(nnx.Cache(jnp.zeros((*leading, self.reach, 3 * self.in_features), dtype)))

    def __call__(self, inputs: Float[Array, "*b T F"], *, decode: bool = False) -> Float[Array, "*b T F"]:
        """What every token reads of itself and those before it.

        Args:
            inputs: tokens, any number.
            decode: go on where the last call with decode=True ended, after `init_cache`.
        Raises:
            ValueError: inputs of another width, or decoding without a cache.
        """
        x = real_array("inputs", inputs, self.filter[...].dtype)
        check_tokens("inputs", x, self.in_features)
        if flag("decode", decode) and self.matrix is None:
            raise ValueError("decode must follow init_cache, got a layer without a cache")
        rows = self.projection(x)
        before = self.recent[...] if decode else jnp.zeros((*rows.shape[:-2], self.reach, rows.shape[-1]), rows.dtype)
        rows = jnp.concatenate([before.astype(rows.dtype), rows], axis=-2)
        mixed = sum(
            rows[..., i : i + x.shape[-2], :] * self.filter[i].reshape((1,) * (rows.ndim - 1) + (-1,))
            for i in range(self.reach + 1)
        )
        read, matrix = self._read(x, jax.nn.silu(mixed), self.matrix[...] if decode else None)
        if decode:
            self.matrix[...] = matrix
            self.recent[...] = rows[..., rows.shape[-2] - self.reach :, :].astype(self.recent[...].dtype)
        return self.out(self.norm(read).astype(x.dtype).reshape(x.shape))

    def _read(self, x: Array, mixed: Array, matrix: Array | None) -> tuple[Array, Array]:
        """Read-outs [*b, T, H, V] and the memory at the end, from the memory before or an empty one."""
        heads, width = self.num_heads, self.in_features // self.num_heads
        by_head = lambda rows: jnp.swapaxes(rows.reshape((*rows.shape[:-1], heads, -1)), -3, -2)
        query, key, value = (by_head(part) for part in jnp.split(mixed, 3, axis=-1))
        query, key = (rows / jnp.sqrt(jnp.sum(rows * rows, axis=-1, keepdims=True) + SMALL) for rows in (query, key))
        ones = jnp.ones((*x.shape[:-2], heads, x.shape[-2]), x.dtype)
        gate = lambda linear: ones if linear is None else jnp.swapaxes(jax.nn.sigmoid(linear(x)), -1, -2)
        empty = FastWeights.create(width, rule=self.rule, dtype=x.dtype)
        matrix = jnp.broadcast_to(empty.matrix, (*ones.shape[:-1], width, width)) if matrix is None else matrix

        def one(matrix, query, key, value, strength, decay):
            memory = empty.replace(matrix=matrix)
            output, memory = memory.attend(query, key, value, strength=strength, decay=decay)
            return output, memory.matrix

        for _ in range(x.ndim - 1):
            one = jax.vmap(one)
        output, matrix = one(matrix, query, key, value, gate(self.strength), gate(self.decay))
        return jnp.swapaxes(output, -3, -2), matrix

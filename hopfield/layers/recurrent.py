"""RecurrentMemory: a sequence read through fast weights, a state of constant size in the place of a cache of keys.

linear attention   RecurrentOptions(rule="outer")                retention, RetNet's: gated=True, output_gate=True
delta network      RecurrentOptions(rule="delta")                gated delta network: gated=True, output_gate=True
"""

import dataclasses
import functools
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from flax.nnx.nn.dtypes import promote_dtype
from flax.typing import Dtype
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float, Int

from hopfield._arguments import flag, instance, integer, one_of, real_array, real_scalar, reals
from hopfield._numerics import accumulation_dtype, wide
from hopfield._pytrees import changed
from hopfield.attention.fast_weights import FastWeights
from hopfield.layers._scope import check_tokens

SMALL = 1e-6


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class RecurrentOptions:
    """Options of a recurrent memory. The defaults give the delta network.

    Example:
        >>> from hopfield.layers import RecurrentOptions
        >>> RecurrentOptions(gated=True, decays=[0.9, 0.99]).rule
        'delta'

    Raises:
        ValueError: an option outside its range, in one sentence.
    """

    rule: Literal["outer", "delta"] = "delta"
    """"delta" writes over what a key reads, "outer" adds to it."""
    gated: bool = False
    """True if the memory fades, by a decay for each token and head."""
    decays: ArrayLike | None = None
    """Decays at the start, one for each head of keys, in (0, 1); RetNet's 1 − 2^(−5−h) if None."""
    max_strength: float = 1.0
    """Largest strength s of the rule "delta", up to 2: beyond 1 what a key reads may change its sign."""
    output_gate: bool = False
    """Multiply what is read by silu of a projection of the token."""
    key_features: int | None = None
    """Width of queries and keys of a head; in_features / num_heads if None."""
    value_features: int | None = None
    """Width of values of a head; in_features / num_heads if None."""
    convolution: int = 4
    """Tokens that a projection is mixed from, its own the last; 1 for none."""

    def __post_init__(self) -> None:
        one_of("rule", self.rule, ("outer", "delta"))
        flag("output_gate", self.output_gate)
        if not flag("gated", self.gated) and self.decays is not None:
            raise ValueError("decays must be left out unless gated=True, as nothing fades")
        if self.decays is not None:
            reals("decays", self.decays, above=0.0, below=1.0)
        real_scalar("max_strength", self.max_strength, "above 0 and at most 2", 1e-30, 2.0)
        if self.rule == "outer" and self.max_strength != 1.0:
            raise ValueError(f"max_strength must be left out with the rule outer, got {self.max_strength}")
        for name in ("key_features", "value_features"):
            integer(name, 1 if getattr(self, name) is None else getattr(self, name))
        integer("convolution", self.convolution)


class Stream(NamedTuple):
    """How tokens follow each other: which are padding, and where a document begins. None where none is, or does."""

    valid: Bool[Array, "*b T"] | None
    first: Bool[Array, "*b T"] | None


class RecurrentMemory(nnx.Module):
    """A layer that writes every token into a matrix per head, S ← a S + s k (v − a kᵀS)ᵀ, and reads it with qᵀS.

    Queries, keys and values are projections of tokens, mixed with those just before them by a short causal
    convolution; queries and keys have unit length. Strengths s of the rule "delta" and decays a in (0, 1) if `gated`
    are functions of the token, one per head of keys. What is read is normalised by head, gated and projected.

    Example:
        >>> from flax import nnx
        >>> from hopfield.layers import RecurrentMemory
        >>> RecurrentMemory(2, 8, rngs=nnx.Rngs(0))(jnp.ones((1, 5, 8))).shape
        (1, 5, 8)

    Source: Schlag et al. 2021 (arXiv:2102.11174); in chunks Yang et al. 2024 (arXiv:2406.06484); gated Yang, Kautz &
    Hatamizadeh 2025 (arXiv:2412.06464); decays of heads Sun et al. 2023 (arXiv:2307.08621); strengths to 2 Grazzi et
    al. 2024 (arXiv:2411.12537). How many pairs a head holds: `hopfield.theory.linear.capacity`.
    """

    def __init__(
        self,
        num_heads: int,
        in_features: int,
        num_kv_heads: int | None = None,
        *,
        options: RecurrentOptions = RecurrentOptions(),
        dtype: Dtype | None = None,
        param_dtype: Dtype = jnp.float32,
        rngs: nnx.Rngs,
    ) -> None:
        """Build the layer.

        Args:
            num_heads: H of queries.
            num_kv_heads: memories, each read by H / num_kv_heads heads of queries; H if None.
            options: rule, gates and widths.
            dtype: of the computation, the parameters' and inputs' if None; states and gates have at least float32.
        Raises:
            ValueError: heads that do not divide the features or each other, or decays of another number of heads.
        """
        instance("rngs", rngs, nnx.Rngs)
        instance("options", options, RecurrentOptions)
        self.num_heads, self.in_features = integer("num_heads", num_heads), integer("in_features", in_features)
        self.memories = num_heads if num_kv_heads is None else integer("num_kv_heads", num_kv_heads)
        if num_heads % self.memories:
            raise ValueError(f"num_kv_heads must divide the {num_heads} heads, got {num_kv_heads}")
        if in_features % num_heads and None in (options.key_features, options.value_features):
            raise ValueError(f"num_heads must divide the {in_features} features, got {num_heads}")
        self.keys = options.key_features or in_features // num_heads
        self.values = options.value_features or in_features // num_heads
        self.rule, self.max_strength, self.reach = options.rule, options.max_strength, options.convolution - 1
        self.dtype, self.param_dtype = dtype, param_dtype
        self.widths = (num_heads * self.keys, self.memories * self.keys, self.memories * self.values)

        def linear(inputs: int, outputs: int, use_bias: bool = False) -> nnx.Linear:
            return nnx.Linear(inputs, outputs, use_bias=use_bias, dtype=dtype, param_dtype=param_dtype, rngs=rngs)

        self.projection = linear(in_features, sum(self.widths))
        self.out = linear(num_heads * self.values, in_features)
        start = nnx.initializers.normal((self.reach + 1) ** -0.5)
        self.filter = nnx.Param(start(rngs.params(), (self.reach + 1, sum(self.widths)), param_dtype))
        by_head = lambda used: linear(in_features, self.memories, True) if used else None
        self.strength, self.decay = nnx.data(by_head(self.rule == "delta")), nnx.data(by_head(options.gated))
        if self.decay is not None:
            _set_start(self.decay, options.decays)
        self.gate = nnx.data(linear(in_features, num_heads * self.values) if options.output_gate else None)
        self.norm = nnx.RMSNorm(self.values, dtype=dtype, param_dtype=param_dtype, rngs=rngs)
        self.matrix: Any = nnx.data(None)
        self.recent: Any = nnx.data(None)

    def init_cache(self, input_shape: tuple[int, ...]) -> None:
        """Starts decoding of inputs [*b, T, F] with an empty memory; its size does not depend on T."""
        leading, dtype = tuple(input_shape[:-2]), self.param_dtype if self.dtype is None else self.dtype
        shape = (*leading, self.memories, self.keys, self.values)
        self.matrix = nnx.data(nnx.Cache(jnp.zeros(shape, accumulation_dtype(dtype))))
        self.recent = nnx.data(nnx.Cache(jnp.zeros((*leading, self.reach, sum(self.widths)), dtype)))

    def __call__(
        self,
        inputs: Float[Array, "*b T F"],
        *,
        lengths: Int[Array, "*b"] | None = None,
        segments: Int[Array, "*b T"] | None = None,
        positions: Int[Array, "*b T"] | None = None,
        decode: bool = False,
    ) -> Float[Array, "*b T F"]:
        """Read-out of every token from itself and the tokens before it in its document; zeros for padding.

        Args:
            inputs: tokens, any number.
            lengths: of each sequence: tokens from this number on are padding.
            segments: ids of documents packed into one sequence, [T] or [*b, T]: each begins with an empty memory.
            positions: of the tokens, [T] or [*b, T]: those below zero are padding, on whatever side, and a document
                begins at 0.
            decode: go on where the last call with decode=True ended, after `init_cache`.
        Raises:
            ValueError: inputs of another width, decoding without a cache or with segments, or other shapes.
        """
        x = real_array("inputs", inputs, self.param_dtype)
        check_tokens("inputs", x, self.in_features)
        if flag("decode", decode) and self.matrix is None:
            raise ValueError("decode must follow init_cache, got a layer without a cache")
        if decode and segments is not None:
            raise ValueError("segments must be left out in decoding, where a document begins at position 0")
        stream = _stream(x.shape[:-1], lengths, segments, positions)
        if stream.valid is not None:
            x = jnp.where(stream.valid[..., None], x, 0.0)
        (x,) = promote_dtype((x,), dtype=self.dtype)
        rows = self.projection(x)
        before = self.recent[...] if decode else jnp.zeros((*rows.shape[:-2], self.reach, rows.shape[-1]), rows.dtype)
        mixed, recent = self._mixed(rows, before.astype(rows.dtype), stream)
        read, matrix = self._read(x, jax.nn.silu(mixed), self.matrix[...] if decode else None, stream)
        if decode:
            self.matrix[...], self.recent[...] = matrix, recent.astype(self.recent[...].dtype)
        read = self.norm(read).astype(rows.dtype).reshape((*x.shape[:-1], -1))
        return self.out(read if self.gate is None else read * jax.nn.silu(self.gate(x)))

    def _mixed(self, rows: Array, before: Array, stream: Stream) -> tuple[Array, Array]:
        """Rows mixed with the last ones of their document, padding left out, and the last rows before the next."""
        (weights,) = promote_dtype((self.filter[...],), dtype=self.dtype)
        weights = weights.reshape((self.reach + 1, *(1,) * (rows.ndim - 1), -1))
        past, tokens = jnp.concatenate([before, rows], axis=-2), rows.shape[-2]
        if stream.valid is None and stream.first is None:
            parts = [past[..., i : i + tokens, :] * weights[i] for i in range(self.reach + 1)]
            return functools.reduce(jnp.add, parts), past[..., tokens:, :]
        valid = jnp.ones(rows.shape[:-1], bool) if stream.valid is None else stream.valid
        begun = jnp.cumsum(jnp.zeros_like(valid) if stream.first is None else stream.first, axis=-1)
        kept = jnp.pad(valid, [(0, 0)] * (valid.ndim - 1) + [(self.reach, 0)], constant_values=True)
        begun = jnp.pad(begun, [(0, 0)] * (valid.ndim - 1) + [(self.reach, 0)])
        order = jnp.argsort(~kept, axis=-1, stable=True)  # padding last
        past = jnp.take_along_axis(past, order[..., None], axis=-2)
        begun_before = jnp.take_along_axis(begun, order, axis=-1)
        last = self.reach + jnp.cumsum(valid, axis=-1) - 1  # place of each token among those

        def part(i: int) -> Array:
            place = jnp.maximum(last - self.reach + i, 0)
            same = jnp.take_along_axis(begun_before, place, axis=-1) == begun[..., self.reach :]
            return jnp.where(same[..., None], jnp.take_along_axis(past, place[..., None], axis=-2), 0.0) * weights[i]

        ends = last[..., -1:] + 1 - self.reach + jnp.arange(self.reach).reshape((1,) * (last.ndim - 1) + (-1,))
        recent = jnp.take_along_axis(past, ends[..., None], axis=-2)
        recent_begun = jnp.take_along_axis(begun_before, ends, axis=-1)
        recent = jnp.where((recent_begun == begun[..., -1:])[..., None], recent, 0.0)
        return functools.reduce(jnp.add, map(part, range(self.reach + 1))), recent

    def _read(self, x: Array, mixed: Array, matrix: Array | None, stream: Stream) -> tuple[Array, Array]:
        """Read-outs [*b, T, H, V] and the memories at the end, from those before or empty ones."""
        count = self.memories
        cuts = np.cumsum(self.widths)[:-1].tolist()
        by_memory = lambda rows: jnp.swapaxes(rows.reshape((*rows.shape[:-1], count, -1)), -3, -2)
        query, key, value = (by_memory(part) for part in jnp.split(wide(mixed), cuts, axis=-1))
        query = query.reshape((*query.shape[:-1], -1, self.keys))  # [*b, K, T, H / K, D]
        query, key = (rows / jnp.sqrt(jnp.sum(rows * rows, axis=-1, keepdims=True) + SMALL) for rows in (query, key))
        of_token = lambda linear, gate: jnp.swapaxes(gate(wide(linear(x))), -1, -2)
        one = jnp.ones((*x.shape[:-2], count, x.shape[-2]), key.dtype)
        strength = one if self.strength is None else self.max_strength * of_token(self.strength, jax.nn.sigmoid)
        log = 0.0 * one if self.decay is None else of_token(self.decay, jax.nn.log_sigmoid)
        if stream.valid is not None:
            valid = stream.valid[..., None, :]
            strength, log = jnp.where(valid, strength, 0.0), jnp.where(valid, log, 0.0)
        log = log if stream.first is None else jnp.where(stream.first[..., None, :], -jnp.inf, log)
        empty = FastWeights(self.keys, self.values, self.rule, dtype=key.dtype)
        shape = (*one.shape[:-1], self.keys, self.values)
        matrix = jnp.broadcast_to(empty.matrix, shape) if matrix is None else matrix

        def step(matrix, query, key, value, strength, log):
            memory = changed(empty, matrix=matrix)
            attend = lambda rows: memory.attend(rows, key, value, strength=strength, log_decay=log)
            read, memory = jax.vmap(attend, in_axes=1, out_axes=(1, None))(query)
            return read, memory.matrix

        for _ in range(x.ndim - 1):
            step = jax.vmap(step)
        read, matrix = step(matrix, query, key, value, strength, log)
        read = jnp.swapaxes(read, -4, -3).reshape((*x.shape[:-1], self.num_heads, self.values))
        return read if stream.valid is None else jnp.where(stream.valid[..., None, None], read, 0.0), matrix


def _set_start(gate: nnx.Linear, decays: ArrayLike | None) -> None:
    """Let the gate of decays begin at these, or at RetNet's."""
    bias = gate.bias[...]  # type: ignore[index]
    start = 1.0 - 2.0 ** (-5.0 - np.arange(bias.size)) if decays is None else np.asarray(decays, float)
    if start.shape not in ((), bias.shape):
        raise ValueError(f"decays must be one for each of the {bias.size} memories, got shape {start.shape}")
    gate.bias[...] = jnp.broadcast_to(jnp.asarray(np.log(start / (1.0 - start)), bias.dtype), bias.shape)  # type: ignore[index]


def _stream(shape: tuple[int, ...], lengths: Any, segments: Any, positions: Any) -> Stream:
    """Padding and beginnings of documents among tokens [*b, T]. ValueError for arrays of other shapes."""
    leading, tokens = shape[:-1], shape[-1]
    valid = first = None
    if lengths is not None:
        lengths = jnp.asarray(lengths)
        if lengths.shape not in ((), leading):
            raise ValueError(f"lengths must be one for each sequence {list(leading)}, got shape {lengths.shape}")
        valid = jnp.arange(tokens).reshape((1,) * len(leading) + (-1,)) < jnp.broadcast_to(lengths, leading)[..., None]
    for name, given in (("segments", segments), ("positions", positions)):
        if given is None:
            continue
        given = jnp.asarray(given)
        if given.shape not in ((tokens,), shape):
            raise ValueError(f"{name} must be one for each token {list(shape)}, got shape {given.shape}")
        given = jnp.broadcast_to(given, shape)
        if name == "segments":
            first = jnp.concatenate([jnp.zeros_like(given[..., :1], bool), given[..., 1:] != given[..., :-1]], -1)
        else:
            begins = given == 0
            first, inside = begins if first is None else first | begins, given >= 0
            valid = inside if valid is None else valid & inside
    valid = None if valid is None else jnp.broadcast_to(valid, shape)
    return Stream(valid, first if first is None or valid is None else first & valid)

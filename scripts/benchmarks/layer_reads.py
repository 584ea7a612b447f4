"""Reads of a layer one kind at a time: stored patterns, tokens decoded with a cache, and small layers."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from hopfield.layers import AssociationOptions, HopfieldAttention, HopfieldLayer

from . import BenchmarkError, Case, Run, Side

TOLERANCE = {jnp.dtype(jnp.float32): 1e-4, jnp.dtype(jnp.bfloat16): 2e-2}
"""Largest difference of what both sides read, relative to the largest entry, by its type."""
Read = Callable[[], Any]


class Shape(NamedTuple):
    """Stored patterns and their width, places of a cache and its width, tokens of a scan, and calls of a short one."""

    patterns: int
    features: int
    cache: int
    width: int
    tokens: int
    calls: int


def case(size: str, workspace: Path) -> Case:
    """Every read once with this library and once as Flax or a few lines of JAX do it, with the same weights."""
    del workspace
    shape = {"small": Shape(12, 8, 8, 16, 2, 1), "published": Shape(4096, 64, 4096, 512, 32, 20)}[size]
    reads = stored_patterns(shape) | decoding(shape) | small_layers(shape)

    def side(number: int) -> Callable[[None, Run], dict[str, jax.Array]]:
        def solve(problem: None, run: Run) -> dict[str, jax.Array]:
            found = {}
            for name, (calls, *sides) in reads.items():
                with run.stage(name):
                    for _ in range(calls):
                        found[name] = jax.block_until_ready(sides[number]())
            return found

        return solve

    return Case(
        what="Stored patterns, decoding and small layers, against Flax's and against projecting the patterns once.",
        shapes=shape._asdict(),
        draw=lambda number: None,
        ours=Side("hopfield.layers", side(0)),
        theirs=Side("Flax, or by hand", side(1)),
        check=check,
    )


def stored_patterns(shape: Shape) -> dict[str, tuple[int, Read, Read]]:
    """Look-up of 16 sequences of 4 tokens, forwards and with slopes; by hand the patterns are projected once."""
    attention = HopfieldAttention(1, shape.features, rngs=nnx.Rngs(0))
    layer = HopfieldLayer(attention, shape.patterns, rngs=nnx.Rngs(1))
    inputs = jax.random.normal(jax.random.key(0), (16, 4, shape.features), jnp.float32)

    def by_hand(layer: HopfieldLayer, inputs: jax.Array) -> jax.Array:
        hopfield: Any = layer.hopfield
        patterns = layer.patterns[...]
        key = hopfield.attention.key(hopfield.stored_norm(patterns))[:, 0]
        value = hopfield.attention.value(hopfield.projection_norm(patterns))[:, 0]
        query = hopfield.attention.query(hopfield.query_norm(inputs))[..., 0, :]
        weights = jax.nn.softmax(query @ key.T / np.sqrt(shape.features), axis=-1)
        return hopfield.attention.out((weights @ value)[..., None, :])

    def slopes(read, layer, inputs):
        return nnx.grad(lambda layer, inputs: jnp.sum(read(layer, inputs) ** 2), argnums=1)(layer, inputs)

    def both(form: Callable) -> tuple[Read, Read]:
        sides = (nnx.jit(partial(form, read)) for read in (lambda layer, inputs: layer(inputs), by_hand))
        ours, theirs = (partial(program, layer, inputs) for program in sides)
        return ours, theirs

    held = HopfieldLayer(attention, shape.patterns, trainable=False, rngs=nnx.Rngs(1))
    held.hold()
    forwards = both(lambda read, layer, inputs: read(layer, inputs))
    kept = partial(nnx.jit(lambda layer, inputs: layer(inputs)), held, inputs)
    return {
        "stored patterns": (1, *forwards),
        "stored patterns, slopes": (1, *both(slopes)),
        "stored patterns, held": (1, kept, forwards[1]),
    }


def decoding(shape: Shape) -> dict[str, tuple[int, Read, Read]]:
    """Tokens one by one, with a head of keys for each of queries and with two, each in a call or all in a scan.

    Rotary positions leave a token's score with itself as it is, and the cache holds zeros before it: both sides agree.
    """
    tokens = jax.random.normal(jax.random.key(0), (shape.tokens, 1, 1, shape.width), jnp.float32)

    def step(graph, state, token):
        layer = nnx.merge(graph, state)
        output = layer(token)
        return nnx.state(layer), output

    def side(kind: Any, heads: int, **options: Any) -> tuple[Read, Read]:
        layer = kind(8, shape.width, num_kv_heads=heads, decode=True, rngs=nnx.Rngs(0), **options)
        layer.init_cache((1, shape.cache, shape.width))
        layer.cache_index[...] = jnp.asarray(shape.cache - shape.tokens, layer.cache_index[...].dtype)
        graph, state = nnx.split(layer)
        scan = jax.jit(lambda state: jax.lax.scan(partial(step, graph), state, tokens)[1])
        one = jax.jit(partial(step, graph))
        return lambda: one(state, tokens[0])[1], lambda: scan(state)

    found = {}
    for heads in (8, 2):
        ours, theirs = (side(kind, heads) for kind in (HopfieldAttention, nnx.MultiHeadAttention))
        found[f"a token, {heads} heads of keys"] = (shape.calls, ours[0], theirs[0])
        found[f"tokens in a scan, {heads} heads of keys"] = (1, ours[1], theirs[1])
        rotary, _ = side(HopfieldAttention, heads, options=AssociationOptions(positions="rotary"))
        found[f"a token, rotary, {heads} heads of keys"] = (shape.calls, rotary, theirs[0])
    return found


def small_layers(shape: Shape) -> dict[str, tuple[int, Read, Read]]:
    """Layers of 8 heads over 16 sequences of as many tokens as a scan has: forwards, causal, and in bfloat16."""
    inputs = jax.random.normal(jax.random.key(0), (16, shape.tokens, shape.features), jnp.float32)

    def both(causal: bool = False, **options: Any) -> tuple[int, Read, Read]:
        def side(kind: Any) -> Read:
            layer = kind(8, inputs.shape[-1], decode=False, rngs=nnx.Rngs(0), **options)
            return partial(nnx.jit(lambda layer, inputs: layer(inputs, is_causal=causal)), layer, inputs)

        return shape.calls, side(HopfieldAttention), side(nnx.MultiHeadAttention)

    kinds = {"": both(), ", causal": both(causal=True), ", bfloat16": both(dtype=jnp.bfloat16)}
    return {f"small layer{name}": sides for name, sides in kinds.items()}


def check(problems: list, ours: list[dict], theirs: list[dict]) -> dict[str, float]:
    """Check that both sides read the same, to the rounding of its type."""
    worst = 0.0
    for name, found in ours[0].items():
        expected = np.asarray(theirs[0][name], np.float64)
        gap = float(np.abs(np.asarray(found, np.float64) - expected).max() / np.abs(expected).max())
        if not gap < TOLERANCE[found.dtype]:
            raise BenchmarkError(f"{name} must agree to {TOLERANCE[found.dtype]}, got a difference of {gap:.3g}")
        worst = max(worst, gap)
    return {"largest relative difference": worst}

"""Rows of `device.py`: what is predicted and measured on an accelerator, and what else one would use there."""

import importlib.util
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from hopfield import Memory, hebb_couplings, retrieve
from hopfield.attention import attend_blockwise, causal
from hopfield.layers import AssociationOptions, HopfieldAttention
from hopfield.patterns import spins
from hopfield.patterns.sources import Generated

SEPARATIONS = ("softmax", "softmax1", "sparsemax", "entmax:1.5", "top_k:8")


class Row(NamedTuple):
    """A computation, its inputs, and what else one would use for it."""

    what: str
    function: Callable
    inputs: Callable[[], tuple]
    peers: dict[str, Callable]


class Outside(NamedTuple):
    """A computation outside JAX, that measures its own seconds."""

    seconds: Callable

    def __call__(self, inputs: tuple, repetitions: int) -> float:
        return self.seconds(inputs, repetitions)


def rows(size: str) -> dict[str, Row]:
    """Rows by name, the shortest compilation first."""
    small = size == "small"
    return {**layers(small), **attention(small), **memories(small)}


def layers(small: bool) -> dict[str, Row]:
    """Layers by separation, short and long, in float32 and bfloat16, beside Flax's."""
    short, long = ((2, 16, 16, 4), (1, 64, 16, 2)) if small else ((16, 256, 256, 8), (4, 4096, 512, 8))
    found = {}
    for length, shape, kinds in (("", short, (jnp.float32,)), ("/long", long, (jnp.float32, jnp.bfloat16))):
        for dtype in kinds:
            for name in SEPARATIONS:
                row = _layer_row(name, shape, dtype)
                found[f"layer{length}/{name}" + ("/bfloat16" if dtype == jnp.bfloat16 else "")] = row
    return found


def _layer_row(separation: str, shape: tuple[int, int, int, int], dtype: Any) -> Row:
    batch, length, features, heads = shape
    kind = {"decode": False, "dtype": dtype, "rngs": nnx.Rngs(0)}
    layer = HopfieldAttention(heads, features, options=AssociationOptions(separation=separation), **kind)
    what = (
        f"layer, {separation}, {batch} x {length} x {features}, {heads} heads, {_name(dtype)}, forwards and backwards"
    )
    peers = {"nnx.MultiHeadAttention": _slopes_of(nnx.MultiHeadAttention(heads, features, **kind))}
    tokens = lambda: (_normal(batch, length, features, dtype=dtype),)
    return Row(what, _slopes_of(layer), tokens, peers if separation == "softmax" else {})


def attention(small: bool) -> dict[str, Row]:
    """Attention over long sequences, causal or not, and a read of many patterns."""
    length, heads, queries, patterns = (256, 2, 16, 512) if small else (32768, 4, 2048, 32768)
    found = {}
    for dtype in (jnp.float32, jnp.bfloat16):
        for past in (False, True):
            name = "long" + "/causal" * past + "/bfloat16" * (dtype == jnp.bfloat16)
            ours = partial(attend_blockwise, mask=causal() if past else None)
            what = f"attention, {length} positions, {heads} heads of 64, {_name(dtype)}{', causal' * past}, f + b"
            tokens = partial(_three, heads, length, 64, dtype)
            found[name] = Row(what, _slopes(ours), tokens, _attention_peers(past, dtype))
    for part, kind in product((length // 8, length // 2), ("", ", three clusters")):
        for separation, dtype in product(("softmax", "sparsemax", "entmax:1.5"), (jnp.float32, jnp.bfloat16)):
            ours = partial(attend_blockwise, separation=separation)
            what = f"attention, {separation}, {part} positions{kind}, {heads} heads of 64, {_name(dtype)}, f + b"
            tokens = partial(_clustered if kind else _three, heads, part, 64, dtype)
            peers = _attention_peers(False, dtype) if separation == "softmax" else {}
            name = f"by length/{part}{'/clusters' * bool(kind)}/{separation}/{_name(dtype)}"
            found[name] = Row(what, _slopes(ours), tokens, peers)
    stored = lambda: (_normal(queries, 64), _normal(patterns, 64, seed=1), _normal(patterns, 64, seed=2))
    what = f"softmax read, {queries} queries, {patterns} patterns of 64"
    plain = lambda *x: jax.nn.dot_product_attention(*(each[:, None] for each in x))[:, 0]
    return {**found, "read": Row(what, attend_blockwise, stored, {"jax.nn": plain})}


def memories(small: bool) -> dict[str, Row]:
    """Asynchronous retrieval, a read of patterns that are drawn when they are read, and a whole command."""
    neurons, probes, more, drawn, asked = (100, 4, 16, 2**12, 4) if small else (2000, 32, 4096, 10**7, 64)
    source = Generated(jax.random.key(0), "spins", drawn, 32)
    patterns = lambda: (spins(jax.random.key(0), int(0.138 * neurons), neurons).astype(jnp.float32),)
    query = lambda: (np.asarray(source.part(0, asked).rows(0, asked), np.float32),)
    found = {
        f"asynchronous{name}": Row(
            f"asynchronous retrieval, N = {neurons}, {count} probes", partial(_retrieved, count), patterns, {}
        )
        for name, count in (("", probes), ("/many", more))
    }
    found |= {
        "spins": Row(
            f"softmax read of {drawn:.0e} drawn spins x 32, {asked} queries at three temperatures",
            _drawn_read(source),
            query,
            {},
        ),
    }
    if not small:
        found["command"] = Row(
            "what JAX needs to add two numbers; beside it, whole commands", jnp.add, _two, _commands()
        )
    return found


def _two() -> tuple:
    return jnp.ones(()), jnp.ones(())


def _commands() -> dict[str, Callable]:
    """`conf=capacity`, and `conf=capacity_classical` at two of its sizes, by the wall clock, compilation included."""
    return {
        f"{name} device={kind}": Outside(partial(_command_seconds, (*name.split(), f"device={kind}")))
        for name in ("conf=capacity_classical neurons=[1000,2000]", "conf=capacity")
        for kind in ("gpu", "cpu")
    }


def _command_seconds(asked: tuple[str, ...], inputs: tuple, repetitions: int) -> float:
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-m", "experiments.run", *asked, "wandb.mode=disabled", f"output={folder}/run"]
        subprocess.run(words, check=True, capture_output=True, timeout=120)
    return time.perf_counter() - start


def _retrieved(probes: int, patterns: jax.Array) -> jax.Array:
    couplings = hebb_couplings(Memory(patterns, separation="linear", space="spins"))
    keys = jax.random.split(jax.random.key(1), probes)
    one = lambda x, key: retrieve(couplings, x, dynamics="asynchronous", key=key).state
    return jax.vmap(one)(patterns[jnp.arange(probes) % len(patterns)], keys)


def _drawn_read(source: Any) -> Callable:
    read = jax.vmap(lambda beta, x: jax.vmap(Memory(source, beta=beta).update)(x), in_axes=(0, None))
    return lambda x: read(jnp.asarray([0.1, 0.3, 1.0], jnp.float32), x)


def _attention_peers(past: bool, dtype: Any) -> dict[str, Callable]:
    """Attention of JAX, cuDNN, PyTorch and AdaSplash, of arrays [H, T, D]."""
    how = {"is_causal": past}
    turned = lambda read, *x: jnp.swapaxes(read(*(jnp.swapaxes(each, 0, 1) for each in x)), 0, 1)
    found = {"jax.nn": _slopes(partial(turned, partial(jax.nn.dot_product_attention, **how)))}
    if jax.default_backend() != "gpu":
        return found
    if dtype == jnp.bfloat16:
        kernel = partial(jax.nn.dot_product_attention, implementation="cudnn", **how)
        found["cuDNN"] = _slopes(partial(turned, kernel))
    for name in ("torch", "adasplash"):
        if importlib.util.find_spec(name):
            found[name] = Outside(partial(_torch_seconds, name, past, str(jnp.dtype(dtype))))
    return found


def _torch_seconds(name: str, past: bool, dtype: str, inputs: tuple, repetitions: int) -> float:
    """Median of PyTorch's attention, or of AdaSplash's entmax 1.5, forwards and backwards."""
    torch = importlib.import_module("torch")
    make = lambda x: torch.tensor(np.asarray(x, np.float32)[None], device="cuda", dtype=getattr(torch, dtype))
    rows = [make(x).requires_grad_() for x in inputs]
    read = torch.nn.functional.scaled_dot_product_attention
    if name == "adasplash":
        read = partial(importlib.import_module("adasplash").adasplash, alpha=1.5)
    taken = []
    for _ in range(repetitions + 1):
        torch.cuda.synchronize()
        start = time.perf_counter()
        read(*rows, is_causal=past).float().square().sum().backward()
        torch.cuda.synchronize()
        taken.append(time.perf_counter() - start)
    return float(np.median(taken[1:]))


def _name(dtype: Any) -> str:
    return str(jnp.dtype(dtype))


def _three(*shape: Any) -> tuple:
    """Query, key and value, which differ: a query that is its own key would find itself alone."""
    return tuple(_normal(*shape[:-1], dtype=shape[-1], seed=seed) for seed in range(3))


def _clustered(*shape: Any) -> tuple:
    """The same with queries and keys in three clusters, one after the other: two blocks in three are empty."""
    centres = np.random.default_rng(3).standard_normal((3, shape[-2])) * 3
    places = jnp.asarray(centres[None, np.arange(shape[-3]) * 3 // shape[-3]], shape[-1])
    query, key, value = _three(*shape)
    return query + places, key + places, value


def _normal(*shape: int, dtype: Any = jnp.float32, seed: int = 0) -> jax.Array:
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape, dtype=np.float32), dtype)


def _slopes(function: Callable) -> Callable:
    """Gradients of half the squared output in all inputs."""
    return jax.grad(lambda *x: 0.5 * jnp.sum(jnp.square(function(*x).astype(jnp.float32))), argnums=(0, 1, 2))


def _slopes_of(layer: Any) -> Callable:
    """Gradients of half the squared output of a layer, in its parameters and its inputs."""
    graph, state = nnx.split(layer)
    loss = lambda s, x: 0.5 * jnp.sum(jnp.square(nnx.merge(graph, s)(x).astype(jnp.float32)))
    return lambda x: jax.grad(loss, argnums=(0, 1))(state, x)

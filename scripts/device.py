"""Cost of the library's kernels on an accelerator, predicted from their operations and measured if there is one.

    python scripts/device.py [--only TEXT] [--measure] [--repetitions 5] [--size published]

Every row is lowered for CUDA, which needs no device, and its operations are counted: those of matrix products, bytes of
the products' operands and results, exponentials and logarithms. Each number over what a device can do in a second is a
time. The prediction runs from what is computed, with all operands at hand, to the sum of the three, with every operand
fetched and nothing overlapping; work element by element is taken to be fused. With `--measure` the rows run on the
first device of JAX, beside what one would otherwise use there.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax.extend import core

from hopfield import Memory
from hopfield.attention import attend_blockwise
from hopfield.layers import AssociationOptions, HopfieldAttention
from hopfield.patterns.sources import generated


class Device(NamedTuple):
    """Peaks of a device in a second, from its data sheet."""

    name: str
    flops: float
    """Of matrix products of float32 numbers, rounded to TF32 as JAX does by default."""
    bytes: float
    exponentials: float


H100 = Device("NVIDIA H100 SXM", flops=495e12, bytes=3.35e12, exponentials=132 * 16 * 1.83e9)
"""NVIDIA H100 Tensor Core GPU data sheet; 16 special functions per clock of 1.83 GHz in each of 132 multiprocessors."""
LOOPS = 8
"""Turns that a loop without a fixed number of them is taken to make, as Newton's method for sparse weights does."""
SLOW = {"exp", "exp2", "log", "log1p", "expm1", "tanh", "logistic", "pow", "cos", "sin"}


class Row(NamedTuple):
    """A computation, its inputs, and what else one would use for it."""

    what: str
    function: Callable
    inputs: Callable[[], tuple]
    peers: dict[str, Callable]


class Counts(NamedTuple):
    """Operations of a computation."""

    flops: float = 0.0
    bytes: float = 0.0
    exponentials: float = 0.0

    def plus(self, other: "Counts", times: float = 1.0) -> "Counts":
        return Counts(*(a + times * b for a, b in zip(self, other, strict=True)))

    def seconds(self, device: Device) -> tuple[float, float, float]:
        """Seconds that each kind takes by itself."""
        return self.flops / device.flops, self.bytes / device.bytes, self.exponentials / device.exponentials


def count_operations(jaxpr: Any) -> Counts:
    """Operations of a jaxpr. A loop counts once per iteration, and a choice of branches as its cheapest one."""
    total = Counts()
    for equation in jaxpr.eqns:
        shapes = [x.aval for x in (*equation.invars, *equation.outvars) if hasattr(x.aval, "shape")]
        size = prod(equation.outvars[0].aval.shape)
        if equation.primitive.name == "dot_general":
            contracted = prod(
                equation.invars[0].aval.shape[axis] for axis in equation.params["dimension_numbers"][0][0]
            )
            moved = sum(prod(each.shape) * each.dtype.itemsize for each in shapes)
            total = total.plus(Counts(2.0 * size * contracted, moved, 0.0))
        elif equation.primitive.name in SLOW:
            total = total.plus(Counts(0.0, 0.0, size))
        inner = [count_operations(each) for each in _inner(equation.params)]
        if equation.primitive.name == "cond":
            total = total.plus(min(inner, key=lambda each: each.seconds(H100)))
        else:
            times = {"scan": equation.params.get("length", 1), "while": LOOPS}.get(equation.primitive.name, 1)
            for each in inner:
                total = total.plus(each, times)
    return total


def _inner(parameters: dict) -> list:
    """Jaxprs among the parameters of an equation."""
    found = []
    for value in parameters.values():
        for each in value if isinstance(value, tuple | list) else [value]:
            inner = getattr(each, "jaxpr", each)  # of a closed one
            found += [inner] if isinstance(inner, core.Jaxpr) else []
    return found


def rows(size: str) -> dict[str, Row]:
    """Rows by name."""
    small = size == "small"
    batch, length, features, heads = (2, 16, 16, 4) if small else (16, 256, 256, 8)
    long, queries, patterns = (256, 16, 512) if small else (32768, 2048, 32768)
    spins, asked = (2**12, 4) if small else (10**7, 64)
    tokens = lambda: (_normal(batch, length, features),)
    sequence = lambda: tuple(_normal(long, heads // 2, 64) for _ in range(3))
    stored = lambda: (_normal(queries, 64), _normal(patterns, 64), _normal(patterns, 64))
    plain = _slopes_of(nnx.MultiHeadAttention(heads, features, decode=False, rngs=nnx.Rngs(0)))
    found = {}
    for name in ("softmax", "softmax1", "sparsemax", "entmax:1.5", "top_k:8"):
        options = AssociationOptions(separation=name)
        layer = HopfieldAttention(heads, features, options=options, decode=False, rngs=nnx.Rngs(0))
        what = f"layer, {name}, {batch} x {length} x {features}, {heads} heads, forwards and backwards"
        found[f"layer/{name}"] = Row(what, _slopes_of(layer), tokens, {"nnx.MultiHeadAttention": plain})
    ours = lambda *x: _by_head(attend_blockwise(*map(_by_head, x)))
    found["long"] = Row(
        f"attention, {long} positions, {heads // 2} heads of 64, forwards and backwards",
        _slopes(ours),
        sequence,
        {"jax.nn": _slopes(jax.nn.dot_product_attention), **_cudnn_attention(_slopes)},
    )
    found["read"] = Row(
        f"softmax read, {queries} queries, {patterns} patterns of 64",
        attend_blockwise,
        stored,
        {"jax.nn": _one_head(jax.nn.dot_product_attention)},
    )
    source = generated(jax.random.key(0), "spins", spins, 32)
    query = lambda: (np.asarray(source.part(0, asked).rows(0, asked), np.float32),)
    found["spins"] = Row(
        f"softmax read of {spins:.0e} drawn spins x 32, {asked} queries at three temperatures",
        _drawn_read(source),
        query,
        {},
    )
    return found


def _by_head(x: Any) -> jax.Array:
    return jnp.swapaxes(x, 0, 1)


def _normal(*shape: int) -> jax.Array:
    return jnp.asarray(np.random.default_rng(0).standard_normal(shape, dtype=np.float32))


def _slopes(function: Callable) -> Callable:
    """Gradients of half the squared output in all inputs."""
    return jax.grad(lambda *x: 0.5 * jnp.sum(jnp.square(function(*x).astype(jnp.float32))), argnums=(0, 1, 2))


def _slopes_of(layer: Any) -> Callable:
    """Gradients of half the squared output of a layer, in its parameters and its inputs."""
    graph, state = nnx.split(layer)
    return lambda x: jax.grad(lambda s, x: 0.5 * jnp.sum(nnx.merge(graph, s)(x) ** 2), argnums=(0, 1))(state, x)


def _cudnn_attention(wrap: Callable) -> dict[str, Callable]:
    """cuDNN's attention in bfloat16, by name. Empty without a GPU."""
    if jax.default_backend() != "gpu":
        return {}
    half = lambda *x: jax.nn.dot_product_attention(*(each.astype(jnp.bfloat16) for each in x), implementation="cudnn")
    return {"cuDNN, bfloat16": wrap(half)}


def _one_head(function: Callable) -> Callable:
    return lambda *x: function(*(each[:, None] for each in x))[:, 0]


def _drawn_read(source: Any) -> Callable:
    read = jax.vmap(lambda beta, x: jax.vmap(Memory.create(source, beta=beta).update)(x), in_axes=(0, None))
    return lambda x: read(jnp.asarray([0.1, 0.3, 1.0], jnp.float32), x)


def seconds(function: Callable, inputs: tuple, repetitions: int) -> float:
    """Median time of the compiled function, on arrays that lie on the device."""
    compiled = jax.jit(function).lower(*inputs).compile()
    jax.block_until_ready(compiled(*inputs))
    taken = []
    for _ in range(repetitions):
        start = time.perf_counter()
        jax.block_until_ready(compiled(*inputs))
        taken.append(time.perf_counter() - start)
    return float(np.median(taken))


def lines(size: str, only: str, repetitions: int) -> list[str]:
    """Table with a line for each row. Times are measured if there are repetitions."""
    measured = " measured | beside |" * bool(repetitions)
    found = [f"| computation | GFLOP | GB | 10⁹ exp, log | predicted ms, {H100.name} |{measured}"]
    found.append("|---" * (5 + 2 * bool(repetitions)) + "|")
    for name, row in rows(size).items():
        if only not in name:
            continue
        inputs = row.inputs()
        jax.export.export(jax.jit(row.function), platforms=["cuda"])(*inputs)
        counts = count_operations(jax.make_jaxpr(row.function)(*inputs).jaxpr)
        times = counts.seconds(H100)
        numbers = " | ".join(f"{value / 1e9:.3g}" for value in counts)
        last = ""
        if repetitions:
            beside = [f"{peer} {1e3 * seconds(f, inputs, repetitions):.3g} ms" for peer, f in row.peers.items()]
            last = f" {1e3 * seconds(row.function, inputs, repetitions):.3g} ms | {', '.join(beside)} |"
        found.append(f"| {row.what} | {numbers} | {1e3 * max(times[0], times[2]):.3g} – {1e3 * sum(times):.3g} |{last}")
    return found


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="part of the names of rows")
    parser.add_argument("--measure", action="store_true", help="run the rows on the first device, too")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--size", choices=("small", "published"), default="published")
    given = parser.parse_args(words)
    if given.repetitions < 1:
        parser.error(f"--repetitions must be at least 1, got {given.repetitions}")
    print(f"{jax.devices()[0].device_kind}, jax {jax.__version__}" if given.measure else "predicted, nothing was run")
    print("\n".join(lines(given.size, given.only, given.repetitions if given.measure else 0)))


if __name__ == "__main__":
    main()

"""Cost of the library's kernels on an accelerator, predicted from their operations and measured if there is one.

    python scripts/device.py [--only TEXT] [--measure] [--minutes 5] [--repetitions 5] [--size published]

Every row is lowered for CUDA, which needs no device, and its operations of matrix products, bytes of the products'
operands and results, exponentials and logarithms are counted. Each number over what a device can do in a second is a
time. The prediction runs from what is computed, with all operands at hand, to the sum of the three, with every operand
fetched and nothing overlapping; work element by element is taken to be fused. With `--measure` the rows, which stand in
`device_rows.py`, run on the first device of JAX, beside what one would otherwise use there, PyTorch and AdaSplash where
they are installed. What does not fit its memory says so in its cell.
"""

import argparse
import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import prod
from typing import Any, NamedTuple

import jax
import numpy as np
from device_rows import Outside, rows
from jax.extend import core


class Device(NamedTuple):
    """Peaks of a device in a second, from its data sheet."""

    name: str
    flops: float
    """Products of float32 matrices, rounded to TF32 as JAX does by default."""
    bytes: float
    exponentials: float


H100 = Device("NVIDIA H100 SXM", flops=495e12, bytes=3.35e12, exponentials=132 * 16 * 1.83e9)
"""NVIDIA H100 Tensor Core GPU data sheet; 16 special functions per clock of 1.83 GHz in each of 132 multiprocessors."""
LOOPS = 8
"""Turns that a loop without a fixed number of them is taken to make, as Newton's method for sparse weights does."""
SLOW = {"exp", "exp2", "log", "log1p", "expm1", "tanh", "logistic", "pow", "cos", "sin"}


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


LOST = ("out of memory", "resource_exhausted")


def measured(function: Callable, inputs: tuple, repetitions: int, limit: float) -> str:
    """Time of a function in words, or what became of it: what a device lacks ends a cell, not the table."""
    if time.monotonic() > limit:
        return "left out: no time"
    take = function if isinstance(function, Outside) else partial(seconds, function)
    try:
        return f"{1e3 * take(inputs, repetitions):.3g} ms"
    except Exception as error:  # noqa: BLE001 - of XLA, cuDNN, Triton, PyTorch: a row is lost, not the table
        lost = any(word in str(error).lower() for word in LOST) or isinstance(error, MemoryError)
        return "out of memory" if lost else f"refused: {type(error).__name__}"


def seconds(function: Callable, inputs: tuple, repetitions: int) -> float:
    """Median time of the compiled function, on arrays that lie on the device."""
    compiled = jax.jit(function).lower(*inputs).compile()
    jax.block_until_ready(compiled(*inputs))
    taken = []
    while len(taken) < repetitions or (sum(taken) < 0.1 and len(taken) < 200):  # many of what a launch takes as long as
        start = time.perf_counter()
        jax.block_until_ready(compiled(*inputs))
        taken.append(time.perf_counter() - start)
    return float(np.median(taken))


def lines(size: str, only: str, repetitions: int, limit: float) -> Iterator[str]:
    """Table with a line for each row. Times are measured until the limit if there are repetitions."""
    measuring = " measured | beside |" * bool(repetitions)
    yield f"| computation | GFLOP | GB | 10⁹ exp, log | predicted ms, {H100.name} |{measuring}"
    yield "|---" * (5 + 2 * bool(repetitions)) + "|"
    for name, row in rows(size).items():
        if only not in name:
            continue
        inputs = row.inputs()
        counts = count_operations(jax.make_jaxpr(row.function)(*inputs).jaxpr)
        times = counts.seconds(H100)
        last = ""
        if repetitions:
            beside = [f"{peer} {measured(f, inputs, repetitions, limit)}" for peer, f in row.peers.items()]
            last = f" {measured(row.function, inputs, repetitions, limit)} | {', '.join(beside)} |"
        else:
            jax.export.export(jax.jit(row.function), platforms=["cuda"])(*inputs)
        numbers = " | ".join(f"{value / 1e9:.3g}" for value in counts)
        yield f"| {row.what} | {numbers} | {1e3 * max(times[0], times[2]):.3g} – {1e3 * sum(times):.3g} |{last}"


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="part of the names of rows")
    parser.add_argument("--measure", action="store_true", help="run the rows on the first device, too")
    parser.add_argument("--minutes", type=float, default=5.0, help="after which rows are left out")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--size", choices=("small", "published"), default="published")
    given = parser.parse_args(words)
    if given.repetitions < 1:
        parser.error(f"--repetitions must be at least 1, got {given.repetitions}")
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # other processes of the table need some, too
    print(f"{jax.devices()[0].device_kind}, jax {jax.__version__}" if given.measure else "predicted, nothing was run")
    limit = time.monotonic() + 60 * given.minutes
    for line in lines(given.size, given.only, given.repetitions if given.measure else 0, limit):
        print(line, flush=True)


if __name__ == "__main__":
    main()

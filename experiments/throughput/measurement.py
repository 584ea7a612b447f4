"""Measurement of one read: time, memory and rate, in alternation with a product of two square matrices."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments.contract import Point, Row
from experiments.shared import footprint, timing
from experiments.throughput.config import AXES, Config
from hopfield import Memory, large, separations
from hopfield.large import counts
from hopfield.patterns.sources import generated

SQUARE = 1024
"""Side of the matrices whose product is the measure."""


def measure_point(config: Config, point: Point) -> Row:
    """Seconds, bytes and operations per second of one point, and of a product of two square matrices beside it."""
    function, arguments, operations = _job(config, point)
    product, square = _product()
    programs: list[Any] = []
    compile_s = timing.seconds(lambda: programs.append(jax.jit(function).lower(*arguments).compile()))
    (compiled,) = programs
    times, products = timing.in_turn([lambda: compiled(*arguments), lambda: product(square)], config.repeats).T
    rate, own = operations / float(min(times)), 2 * SQUARE**3 / float(min(products))
    return {
        "compile_s": compile_s,
        "run_s": float(min(times)),
        "run_median_s": float(np.median(times)),
        "rows_per_s": point["patterns"] * point["queries"] / float(min(times)),
        "argument_bytes": compiled.memory_analysis().argument_size_in_bytes,
        "temporary_bytes": footprint.temporary_bytes(compiled, *arguments),
        "flop_per_s": rate,
        "product_flop_per_s": own,
        "share": rate / own,
    }


def _product() -> tuple[Callable[[Array], Array], Array]:
    square = jax.random.normal(jax.random.key(0), (SQUARE, SQUARE), jnp.float32)
    # The default precision of a CPU; what the command asks for elsewhere holds here, too.
    product = jax.jit(lambda x: x @ x)
    return product, square


def _job(config: Config, point: Point) -> tuple[Callable, tuple, float]:
    """A function, its arguments, and the multiplications and additions of its products."""
    num_patterns, neurons, queries = (point[axis] for axis in AXES)
    key = jax.random.key(config.seed)
    if point["task"] == "counts":
        source = generated(key, "spins", num_patterns, neurons)
        words = generated(jax.random.key(config.seed + 1), "spins", queries, neurons).words(0, queries)
        tally = lambda source, words: counts.tally(source, words, num_patterns, mesh=None)
        return tally, (source, words), 2.0 * num_patterns * queries * (neurons + 1) ** 2
    rows = jax.random.normal(key, (num_patterns, neurons), jnp.float32)
    asked = jax.random.normal(jax.random.key(config.seed + 1), (queries, neurons), jnp.float32)
    separation = separations.LogSumExp() if point["task"] == "softmax" else separations.Sparsemax()
    read = lambda rows, asked: large.read(Memory.create(rows, neurons**-0.5, separation=separation), asked)
    return read, (rows, asked), 4.0 * num_patterns * neurons * queries

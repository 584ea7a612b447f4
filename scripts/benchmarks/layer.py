"""Multi-head self-attention as a layer, forwards and backwards: HopfieldAttention and the layer Flax comes with."""

from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from hopfield.layers import HopfieldAttention

from . import BenchmarkError, Case, Run, Side

TOLERANCE = 1e-3
"""Largest difference between gradients in the inputs, relative to the largest gradient."""


class Problem(NamedTuple):
    """Inputs and the slopes of the loss in the outputs [batch, length, features], in numpy and on JAX's device."""

    arrays: tuple[np.ndarray, np.ndarray]
    on_device: tuple[jax.Array, ...]


class Shape(NamedTuple):
    """Sizes of a layer and of its inputs."""

    batch: int
    length: int
    features: int
    heads: int


def sizes(size: str) -> Shape:
    """The shape of the problem."""
    return {"small": Shape(2, 16, 16, 4), "published": Shape(16, 256, 256, 8)}[size]


def build(kind: Any, shape: Shape) -> Any:
    """A layer of either kind, with the same weights."""
    return kind(shape.heads, shape.features, decode=False, rngs=nnx.Rngs(0))


@nnx.jit
def slopes(layer, inputs, weights):
    """Gradients of Σ weights · layer(inputs) in the layer's parameters and in the inputs."""
    return nnx.grad(lambda module, x: jnp.sum(module(x) * weights), argnums=(0, 1))(layer, inputs)


def case(size: str, workspace: Path) -> Case:
    """One forward and backward pass, for given parameters and inputs."""
    del workspace
    theirs_layer = build(nnx.MultiHeadAttention, sizes(size))

    def theirs(problem: Problem, run: Run) -> np.ndarray:
        return np.asarray(jax.block_until_ready(slopes(theirs_layer, *problem.on_device))[1])

    return comparison(size, "nnx.MultiHeadAttention", theirs)


def comparison(size: str, label: str, theirs) -> Case:
    """Ours against another layer with the same weights."""
    shape = sizes(size)
    layer = build(HopfieldAttention, shape)

    def draw(number: int) -> Problem:
        rng = np.random.default_rng((2021, number))
        inputs, weights = (rng.standard_normal(shape[:3], dtype=np.float32) for _ in range(2))
        return Problem((inputs, weights), (jax.device_put(inputs), jax.device_put(weights)))

    def ours(problem: Problem, run: Run) -> np.ndarray:
        return np.asarray(jax.block_until_ready(slopes(layer, *problem.on_device))[1])

    return Case(
        what=f"Multi-head self-attention forwards and backwards, against {label}.",
        shapes=shape._asdict(),
        draw=draw,
        ours=Side("HopfieldAttention", ours),
        theirs=Side(label, theirs),
        check=same_gradients,
    )


def same_gradients(problems: list, ours: list[np.ndarray], theirs: list[np.ndarray]) -> dict[str, float]:
    """Check that the gradients in the inputs agree, to rounding."""
    gaps = [float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(ours, theirs, strict=True)]
    if not max(gaps) < TOLERANCE:
        raise BenchmarkError(f"gradients must agree to {TOLERANCE:g}, got a relative difference of {max(gaps):.3g}")
    return {"largest relative difference": max(gaps)}

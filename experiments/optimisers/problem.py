"""Problems that optimisers are compared on, first a memory with a learned metric, asked with inputs of uneven variance.

    p(class | x) = Σ_μ softmax(x g ξ)_μ over the patterns μ of the class

Orthonormal patterns ξ_μ [M M] with a class each are stored and stay; the metric g [N M] is learned. Labels are drawn
from a like memory with another metric, so that the fit has an optimum which no weight decay has to make. Inputs are
x = A z with z standard normal and A symmetric with random axes, its eigenvalues spaced evenly in their logarithm: the
largest standard deviation is `conditioning` times the smallest, and the mean variance is one. Scores depend on x and g
by z and A g alone: all conditionings of a seed are one problem in other coordinates, with the same labels and optimum.
The others are a transformer and a convolutional net that read digits (`digits`).
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments.optimisers import digits
from hopfield import attention
from hopfield import metrics as bilinear
from hopfield.fisher import Categorical

Params = Any
"""A pytree: of the memory {"metric": [N M]}."""
SHARPNESS = 3.0
"""Scale of the metric that labels are drawn from, in units of the one that learning starts with."""
LEAST = 1e-30
"""Least probability of a class whose logarithm is taken."""


class Shape(NamedTuple):
    """Sizes of a problem: inputs N, patterns M and their classes, examples to fit and held out."""

    features: int
    num_patterns: int
    classes: int
    examples: int
    held: int


class Problem(NamedTuple):
    """Data and starts of one problem, as a pytree whose shapes do not depend on seed and conditioning."""

    stored: Array
    answers: Array
    """Class of every pattern as a row [M C] of zeros and a one."""
    inputs: Array
    labels: Array
    held_inputs: Array
    held_labels: Array
    start: Params
    teacher: Params
    """The parameters that labels were drawn with."""


Task = Problem | digits.Digits


def problem(shape: Shape, seed: Sequence[int], conditioning: float) -> Problem:
    """Inputs, labels, stored patterns and the start of the parameters.

    Args:
        shape: all sizes.
        seed: of everything random; at one seed the conditionings differ by A alone.
        conditioning: largest over smallest standard deviation of the inputs, at least 1.
    """
    rng = np.random.default_rng(seed)
    count, n = shape.examples + shape.held, shape.examples
    stored, _ = np.linalg.qr(rng.standard_normal((shape.num_patterns, shape.num_patterns)))
    answers = np.eye(shape.classes)[np.arange(shape.num_patterns) % shape.classes]
    size = shape.features, shape.num_patterns
    teacher, start = (scale * rng.standard_normal(size) / np.sqrt(shape.features) for scale in (SHARPNESS, 1.0))
    latent = rng.standard_normal((count, shape.features))
    axes, _ = np.linalg.qr(rng.standard_normal((shape.features, shape.features)))
    spread = np.logspace(0.0, -np.log10(conditioning), shape.features)
    spread /= np.sqrt(np.mean(spread**2))
    scores = latent @ teacher @ stored.T
    share = np.exp(scores - scores.max(axis=1, keepdims=True)) @ answers
    labels = np.argmax(np.log(share) + rng.gumbel(size=share.shape), axis=1)
    inputs = latent @ (axes * spread) @ axes.T
    metrics = [{"metric": _as_32_bit(g)} for g in (start, (axes / spread) @ axes.T @ teacher)]
    data = [_as_32_bit(x) for x in (inputs[:n], labels[:n], inputs[n:], labels[n:])]
    return Problem(_as_32_bit(stored), _as_32_bit(answers), data[0], data[1], data[2], data[3], metrics[0], metrics[1])


def _as_32_bit(array: np.ndarray) -> Array:
    return jnp.asarray(array, jnp.float32 if array.dtype.kind == "f" else jnp.int32)


def model(problem: Task) -> Callable[[Params, Array], Array]:
    """(params, inputs [B N]) ↦ log-probabilities of the classes [B C], natural parameters of the labels."""
    if isinstance(problem, digits.Digits):
        return digits.outputs

    def outputs(params: Params, inputs: Array) -> Array:
        metric = bilinear.Full(params["metric"])
        return jnp.log(attention.attend(inputs, problem.stored, problem.answers, metric=metric, beta=1.0) + LEAST)

    return outputs


def loss(problem: Task, params: Params, inputs: Array, labels: Array) -> Array:
    """Mean negative log-likelihood of labels [B]."""
    return -jnp.mean(Categorical().log_probability(model(problem)(params, inputs), labels))


def held_out(problem: Task, params: Params) -> tuple[Array, Array]:
    """Loss and accuracy on the examples held out."""
    outputs = model(problem)(params, problem.held_inputs)
    right = jnp.argmax(outputs, axis=-1) == problem.held_labels
    held = -jnp.mean(Categorical().log_probability(outputs, problem.held_labels))
    return held, jnp.mean(right.astype(held.dtype))

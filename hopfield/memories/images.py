"""Images as they are, of any brightness: the Manhattan distance, its β in the unit of the images' own spread."""

from typing import Any

import jax.numpy as jnp

from hopfield.memories import EXPONENTIAL, Patterns, Used, Values
from hopfield.memory import Memory
from hopfield.patterns.sources import Source, as_patterns
from hopfield.similarities import Manhattan
from hopfield.spaces import Euclidean

SCALING = EXPONENTIAL
ENSEMBLE = "sphere"

SHARPNESS = 200.0
"""β times the mean distance of a stored image from the mean of all. At 100 one of 50 patches of photographs, half of it
unknown, still mixes with another, at 200 none."""


def images(patterns: Patterns, beta: float | None = None, *, mask: Used = None, values: Values = None) -> Memory:
    """E = −β⁻¹ log Σ_μ exp(−β Σ_i |x_i − ξ_μi|), whose steps are medians of the images, weighted by softmax.

    No image answers for another because it is brighter, as it may with dot products, and a hidden part counts less
    than by squares: of all similarities this one brings most images back (`conf=separation`).

    Args:
        patterns: images [M, N], a row each, of any unit and offset of intensity.
        beta: inverse temperature; by default `SHARPNESS` over the mean distance of the images from their mean.
        mask, values: as in `Memory`.
    Raises:
        ValueError: patterns of a source without a β.
    """
    patterns = as_patterns(patterns)
    if beta is None:
        if isinstance(patterns, Source):
            raise ValueError("beta must be given for the patterns of a source, whose spread is not measured, got None")
        used = jnp.ones(patterns.shape[:1], bool) if mask is None else jnp.asarray(mask)
        heat: Any = SHARPNESS / _spread(patterns, used[:, None])
    else:
        heat = beta
    return Memory(patterns, heat, mask=mask, values=values, similarity=Manhattan(), space=Euclidean(confined=False))


def _spread(rows, used):
    """Mean distance Σ_i |ξ_i − mean_i| of the rows in use from their mean; 1 where there is none."""
    count = jnp.maximum(jnp.sum(used), 1).astype(rows.dtype)
    mean = jnp.sum(jnp.where(used, rows, 0.0), axis=0, keepdims=True) / count
    spread = jnp.sum(jnp.where(used, jnp.abs(rows - mean), 0.0)) / count
    return jnp.where(spread == 0, 1.0, spread)

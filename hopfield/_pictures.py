"""Arguments of pictures: arrays of numbers, metrics, planes and energies, checked before anything is drawn."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def square(values: Any) -> np.ndarray:
    matrix = numbers("values", values, "a metric [N, N]", (2,))
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"values must be a metric [N, N], got shape {matrix.shape}")
    return matrix


def plane(origin: Any, directions: Any) -> tuple[np.ndarray, np.ndarray]:
    """Origin and directions of a plane, which must span one."""
    origin = numbers("origin", origin, "a state [N]", (1,))
    directions = numbers("directions", directions, "two vectors", (2,))
    if directions.shape != (2, *origin.shape):
        raise ValueError(f"directions must be two of shape {origin.shape}, got shape {directions.shape}")
    if not np.isfinite(directions).all() or np.linalg.matrix_rank(directions) < 2:
        raise ValueError(f"directions must be finite and span a plane, got {directions.tolist()}")
    return origin, directions


def numbers(name: str, value: Any, what: str, ranks: Sequence[int] | None = None) -> np.ndarray:
    """A non-empty array of real numbers in double precision. ValueError, in the words of `what`, otherwise."""
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        array = np.empty(0, object)
    real = any(jnp.issubdtype(array.dtype, kind) for kind in (jnp.floating, jnp.integer, jnp.bool_))
    if not real or array.size == 0 or (ranks is not None and array.ndim not in ranks):
        got = f"shape {array.shape}" if real else f"{type(value).__name__} of {array.dtype}"
        raise ValueError(f"{name} must be {what}, not empty, got {got}")
    masked = np.ma.getmaskarray(value) if isinstance(value, np.ma.MaskedArray) else False
    return np.where(masked, np.nan, array.astype(float))


def energies(name: str, energy: Any, states: np.ndarray) -> np.ndarray:
    """Energies of states [T, N]. TypeError unless a function of JAX is given, ValueError unless it returns a number."""
    if not callable(energy):
        raise TypeError(f"{name} must be a function, got {type(energy).__name__}")
    try:
        levels: Any = jax.vmap(energy)(jnp.asarray(states))
    except jax.errors.JAXTypeError as error:
        raise TypeError(f"{name} must be a function that JAX can trace, got {type(error).__name__}") from error
    if jnp.shape(levels) != (len(states),):
        raise ValueError(f"{name} must be one number for a state, got shape {jnp.shape(levels)[1:]}")
    return numbers(name, levels, "one real number for a state")

"""Checks of objects: of a class, random keys, paths."""

import os
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from hopfield._arguments.words import shown


def instance(name: str, value: Any, *kinds: type) -> Any:
    """An object of one of the kinds. TypeError for any other, a class included."""
    if not isinstance(value, kinds):
        article = "an" if kinds[0].__name__[0] in "AEIO" else "a"
        raise TypeError(f"{name} must be {article} {' or '.join(kind.__name__ for kind in kinds)}, got {shown(value)}")
    return value


def random_key(name: str, key: Any) -> Any:
    """One random key, of `jax.random.key` or of the older kind. TypeError for anything else, many keys included."""
    dtype, shape = getattr(key, "dtype", None), getattr(key, "shape", None)
    if dtype is not None and jnp.issubdtype(dtype, jax.dtypes.prng_key):
        single = shape == ()
    else:
        single = dtype == np.uint32 and shape == jax.eval_shape(jax.random.PRNGKey, 0).shape
    if not single:
        kind = type(key).__name__ if dtype is None else f"{dtype} {list(shape or ())}"
        raise TypeError(f"{name} must be one JAX random key, as jax.random.key(0), got {kind}")
    return key


def as_path(name: str, value: Any) -> Path:
    """A path, `~` expanded. TypeError unless it is text or a path."""
    if not isinstance(value, str | os.PathLike) or isinstance(os.fspath(value), bytes):
        raise TypeError(f"{name} must be a path, got {shown(value)}")
    return Path(os.path.expanduser(value))  # pathlib's own raises where there is no such home

"""Checks of the parts of a memory: whether patterns, values, similarity and space fit each other."""

import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from hopfield._arguments import boolean_array, real_matrix
from hopfield._numerics import is_traced, violated
from hopfield.patterns.sources import Source, Stored, as_patterns
from hopfield.similarities import Bilinear, Manhattan, Similarity, SquaredDistance
from hopfield.spaces import Euclidean, Space, Spins


def check_parts(patterns: Array | Source, similarity: Similarity, space: Space) -> None:
    """Check that the three can make a memory. ValueError otherwise."""
    if isinstance(similarity, Bilinear) and similarity.metric.widths[1] != patterns.shape[1]:
        raise ValueError(
            f"metric must be [N, {patterns.shape[1]}] for patterns of width {patterns.shape[1]}, "
            f"got {similarity.metric.widths}"
        )
    open_space = isinstance(space, Euclidean) and not space.confined
    if open_space and not isinstance(similarity, SquaredDistance | Manhattan):
        raise ValueError(
            f"space must be confined for {type(similarity).__name__}, whose energy has no minimum without R = ½‖x‖²"
        )


def check_spins(patterns: Array | Source, mask: Array | np.ndarray | None) -> None:
    """Check that patterns are spins, those in a file unread. ValueError otherwise."""
    rows = patterns.array if isinstance(patterns, Stored) else patterns
    if isinstance(rows, Source) and not rows.spins and not rows.walked:
        raise ValueError(f"patterns must be spins −1 or +1, got {type(rows).__name__} ones of another ensemble")
    if isinstance(rows, Source) or is_traced(rows, mask):
        return
    used = np.ones(rows.shape[0], bool) if mask is None else mask
    if violated(lambda rows, used: (abs(rows) == 1) | (rows != rows) | ~used[:, None], rows, used):
        entries = jax.device_get(rows)
        raise ValueError(f"patterns must be spins −1 or +1, got {_no_spins(entries, entries[jax.device_get(used)])}")


def _no_spins(entries: np.ndarray, used: np.ndarray) -> str:
    """Name for patterns whose used rows are no spins, for a sentence."""
    if np.all(entries * (entries - 1) == 0):
        return "zeros and ones (write 2 * patterns - 1)"
    return f"entries {np.nanmax(abs(abs(used) - 1)):g} away from them"


def check_dot_products(patterns: Array | Source, mask: Any, space: Space, values: Any) -> None:
    """Check that patterns on spins are spins; warn if dot products in another space favour other patterns."""
    if isinstance(space, Spins):
        check_spins(patterns, mask)
    elif values is None and not isinstance(patterns, Source):  # values: keys of attention, which are not read
        warn_of_rivals(patterns, mask)


MOST_COMPARED = 2**20
"""Products of components that building spends on `warn_of_rivals`, a millisecond on one core."""


def warn_of_rivals(patterns: Array, mask: Any) -> None:
    """Warn where more than a tenth of the patterns have a larger dot product with another one than with themselves.

    Of many patterns some are compared, evenly spaced; traced patterns are not compared.
    """
    if is_traced(patterns, mask) or not patterns.is_fully_addressable:
        return
    used = np.arange(len(patterns)) if mask is None else np.flatnonzero(jax.device_get(mask))
    count = min(len(used), 256, max(2, int((MOST_COMPARED / patterns.shape[1]) ** 0.5)))
    chosen = used[np.linspace(0, len(used) - 1, count).astype(int)]
    here = patterns.devices() == {jax.local_devices(backend="cpu")[0]}  # no copy then, and nothing to compile
    with jax.ensure_compile_time_eval():
        rows = jax.device_get(patterns)[chosen] if here else jax.device_get(patterns[chosen])
    with np.errstate(all="ignore"):
        wide = rows.astype(np.promote_types(rows.dtype, np.float32))
        products = np.einsum("in,jn->ij", wide, wide)  # on this thread: others of BLAS may have to wait for a core
        own = products.diagonal()
        lost = np.sum(products.max(axis=1, initial=-np.inf) > own + 1e-5 * np.abs(own))
    if lost > 0.1 * count:
        warnings.warn(
            f"{lost} of {count} patterns have a larger dot product with another one than with themselves, which then"
            ' answers for them: write memories.find("images").build(patterns), similarity="squared_distance" with'
            ' space="unconfined", or patterns.standardise(patterns)',
            stacklevel=4,
        )


def check_classical(name: str, memory: Any) -> None:
    """Check that a memory is classical, a network of couplings. ValueError, about the argument `name`, otherwise."""
    if not memory.classical:
        got = ", ".join(type(part).__name__ for part in (memory.separation, memory.similarity, memory.space))
        raise ValueError(f"{name} must be classical (Linear separation, Dot similarity, Spins), got {got}")


def stored_spins(patterns: Any, mask: Any) -> tuple[Float[Array, "M N"], Bool[Array, "M"]]:
    """Spins [M, N] that a rule makes a matrix of, 1 in unused rows whatever they hold, and flags of rows in use [M].

    Raises:
        ValueError: anything else.
    """
    rows = real_matrix("patterns", patterns)
    used = np.ones(rows.shape[0], bool) if mask is None else boolean_array("mask", mask, rows.shape[:1])
    check_spins(rows, used)
    used = jnp.asarray(used)
    return jnp.where(used[:, None], rows, jnp.ones((), rows.dtype)), used


def checked_values(values: Any, patterns: Array | Source) -> Array | Source:
    """Values that are read out instead of patterns. ValueError unless kind and number of rows are the patterns'."""
    if isinstance(values, Source) and not isinstance(patterns, Source):
        raise ValueError(f"values must be an array where patterns are one, got a source, {type(values).__name__}")
    found = as_patterns(values) if isinstance(patterns, Source) else real_matrix("values", values)
    if found.shape[0] != patterns.shape[0]:
        raise ValueError(f"values must have one row per pattern ({patterns.shape[0]}), got {found.shape[0]}")
    return found


def reads_masked(build: Callable) -> bool:
    """True if patterns outside the mask change a step of a memory that takes spins."""
    used, rest = np.ones((1, 5), np.float32), np.tile(np.array([1, 1, -1, -1, -1], np.float32), (8, 1))
    try:
        alone, beside = build(used), build(np.concatenate([used, rest]), mask=np.arange(9) < 1)
        steps = [np.asarray(model.update(model.as_state(rest[0]))) for model in (alone, beside)]
    except ValueError:
        return False
    return not np.allclose(*steps, rtol=1e-3, atol=1e-3, equal_nan=True)

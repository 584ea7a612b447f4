"""Real patterns: handwritten digits, patches of photographs, the user's own files; and rescalings they need.

The images come with scikit-learn: nothing is downloaded. Every function returns one pattern per row, [M, N].
"""

import lzma
import os
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._arguments import as_path, flag, integer, number_scalar, parse_number, real_array, real_scalar
from hopfield._arrays import Patterns
from hopfield._numerics import largest, power_of_two, unit

UNSOUND = (
    OSError,
    ValueError,
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    RuntimeError,
    SyntaxError,
    TypeError,
    lzma.LZMAError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)
"""Errors of `numpy.load` on files that are missing, damaged, encrypted, pickled or impossibly large."""
UNPACKED = 2**31
"""Bytes of all arrays of an archive at most: a small file can hold more than fits into memory."""


def _rows(patterns: ArrayLike) -> Array:
    rows = real_array("patterns", patterns)
    if rows.ndim < 1 or rows.shape[-1] < 1:
        raise ValueError(f"patterns must have units along their last axis, got shape {rows.shape}")
    return rows


def to_norm(patterns: Float[Array, "*M N"], norm: float | None = None) -> Float[Array, "*M N"]:
    """Patterns, each scaled to Euclidean norm `norm` (√N, a spin pattern's, when None). Zero stays zero."""
    patterns = _rows(patterns)
    if norm is None:
        return unit(patterns) * patterns.shape[-1] ** 0.5
    return unit(patterns) * real_scalar("norm", norm, "at least 0 and finite", 0.0)


def standardise(patterns: Float[Array, "*M N"], norm: float | None = None) -> Float[Array, "*M N"]:
    """Patterns, each less its own mean, then scaled as by `to_norm`; a constant pattern becomes zero."""
    patterns = _rows(patterns)
    patterns = patterns / power_of_two(largest(jnp.abs(patterns), axis=-1, keepdims=True))  # no difference overflows
    shifted = patterns - patterns[..., :1]  # first, so that rounding in the mean is that of the contrast alone
    return to_norm(shifted - jnp.mean(shifted, axis=-1, keepdims=True), norm)


def to_spins(patterns: Float[Array, "*M N"], threshold: float | None = None) -> Float[Array, "*M N"]:
    """+1 where a unit is at least `threshold` and −1 elsewhere.

    When None, each pattern's own median; its smallest value is then always −1, so that a pattern with half of its
    units at the minimum keeps its contrast. NaN stays NaN, and without a threshold spreads over its pattern.
    """
    patterns = _rows(patterns)
    if threshold is not None:
        number_scalar("threshold", threshold)
    bar = jnp.median(patterns, axis=-1, keepdims=True) if threshold is None else jnp.asarray(threshold, patterns.dtype)
    above = patterns >= bar
    if threshold is None:
        above &= patterns > jnp.min(patterns, axis=-1, keepdims=True)
    signs = jnp.where(above, 1.0, -1.0).astype(patterns.dtype)
    return jnp.where(jnp.isnan(patterns) | jnp.isnan(bar), jnp.nan, signs)


def digits(*, binary: bool = False) -> Patterns:
    """The 1797 handwritten digits of 8 × 8 pixels in [0, 1], or as spins, +1 where a pixel is at least ½.

    The classes follow each other 0, 1, 2, … through the rows. As spins 47 of them repeat an earlier one.

    Source: Alpaydin & Kaynak (1998), UCI Optical Recognition of Handwritten Digits, from scikit-learn.
    """
    pixels = jnp.asarray(_scikit_learn("digits").load_digits(return_X_y=True)[0] / 16.0)
    return to_spins(pixels, 0.5) if flag("binary", binary) else pixels


def photograph_patches(
    size: int = 8,
    count: int = 1000,
    seed: int = 0,
    *,
    colour: bool = False,
    unit_norm: bool = False,
    binary: bool = False,
) -> Patterns:
    """Square patches at distinct random places of two photographs, a temple and a flower.

    Args:
        size: side of a patch in pixels, 2 to 427; patches may overlap.
        count: number of patches, M; patches without any contrast are passed over.
        seed: the patches depend on size, colour and seed; a larger count only appends.
        colour: N = 3·size², red, green and blue of a pixel side by side; else N = size² of luminance (ITU-R 601).
        unit_norm: take each patch's mean off and scale it to Euclidean norm 1; else intensities in [0, 1].
        binary: the sign of each patch minus its median, as by `to_spins`.
    Raises:
        ValueError: a size or seed out of range, or more patches than the photographs hold.
    """
    size, count, seed = integer("size", size, 2), integer("count", count), integer("seed", seed, 0)
    levels = _photographs(flag("colour", colour))
    if size > levels.shape[1]:
        raise ValueError(f"size must be at most {levels.shape[1]}, the photographs' height, got {size}")
    patches = _random_patches(levels, size, count, seed) / (255.0 if colour else 255_000.0)
    if flag("unit_norm", unit_norm) and flag("binary", binary):
        raise ValueError("unit_norm must be False where binary is True, as spins have the norm √N")
    if flag("binary", binary):
        return to_spins(jnp.asarray(patches))
    if unit_norm:
        patches = patches - patches.mean(axis=1, keepdims=True)
        patches = patches / np.linalg.norm(patches, axis=1, keepdims=True)
    return jnp.asarray(patches)


def _scikit_learn(what: str) -> ModuleType:
    """The data sets that scikit-learn brings. ImportError unless scikit-learn is installed."""
    try:
        import sklearn.datasets as found
    except ModuleNotFoundError as error:
        raise ImportError(
            f"{what} need scikit-learn, which this environment has not: pip install scikit-learn"
        ) from error
    return found


def _photographs(colour: bool) -> np.ndarray:
    """Levels [image, row, column, channel] as integers, 255 or for grey 255 000 the brightest: exact comparisons."""
    photographs = np.stack(_scikit_learn("photographs").load_sample_images().images).astype(np.int64)
    return photographs if colour else photographs @ np.array([[299], [587], [114]])


def _random_patches(levels: np.ndarray, size: int, count: int, seed: int) -> np.ndarray:
    windows = np.lib.stride_tricks.sliding_window_view(levels, (size, size), axis=(1, 2))
    places = windows.shape[:3]  # [image, row, column, channel, size, size]
    order = np.random.default_rng(seed).permutation(int(np.prod(places)))
    cut: list[np.ndarray] = []
    total = 0
    for start in range(0, order.size, count):
        patches = windows[np.unravel_index(order[start : start + count], places)]
        patches = np.moveaxis(patches, 1, -1).reshape(len(patches), -1)
        cut.append(patches[np.ptp(patches, axis=1) > 0])
        if (total := total + len(cut[-1])) >= count:
            return np.concatenate(cut)[:count]
    raise ValueError(f"count must be at most {total}, the patches with contrast, got {count}")


def from_file(path: str | os.PathLike, name: str | None = None) -> Patterns:
    """Patterns from a .npy, .npz or .csv file: numbers of shape [M, N], or [M, height, width, …] to be flattened.

    A .csv file has a pattern in each line, its numbers between commas; a first line of names is passed over: texts
    with a letter, none of them a number or a truth value. Pickled data, which could execute code, is refused.

    Args:
        path: the file.
        name: which array of a .npz file; None for its only array.
    Raises:
        ValueError: a file that is missing, unreadable or pickled, of no such array, or not of finite real numbers.
    """
    place = as_path("path", path)
    shown = repr(os.fspath(path))
    array = _table(place, shown) if place.suffix.lower() == ".csv" else _load(place, shown, name)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"path must hold real numbers, got {array.dtype} in {shown}")
    if array.ndim < 2 or array.size == 0:
        raise ValueError(f"path must hold patterns of shape [M, N] or [M, H, W, ...], got {array.shape} in {shown}")
    with np.errstate(over="ignore"):
        patterns = array.reshape(len(array), -1).astype(jnp.result_type(float))
    if not np.all(np.isfinite(patterns)):
        row = int(np.argmin(np.all(np.isfinite(patterns), axis=1)))
        raise ValueError(f"path must hold numbers finite in {patterns.dtype}, got others in row {row} of {shown}")
    return jnp.asarray(patterns)


def check_archive(path: Path) -> None:
    """Check that an archive unpacks to at most `UNPACKED` bytes, by its own list; else ValueError. Others pass."""
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
    except UNSOUND:  # no archive, or one that whoever reads it refuses
        return
    if size > UNPACKED:
        raise ValueError(f"path must hold arrays of at most {UNPACKED} bytes, got {size} bytes in {str(path)!r}")


@contextmanager
def _reading(shown: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ValueError(f"path must be readable, got {shown} ({error.strerror or error})") from None
    except UNSOUND:
        raise ValueError(f"path must be a sound .npy or .npz file without pickled data, got {shown}") from None


def _table(path: Path, shown: str) -> np.ndarray:
    with _reading(shown):
        regular = path.is_file()
    if not regular:
        raise ValueError(f"path must name an existing .csv file, got {shown}")
    with _reading(shown):
        lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    rows = [line.split(",") for line in lines if line.strip()]
    if rows and all(map(_is_name, rows[0])):
        rows = rows[1:]
    if not rows:
        raise ValueError(f"path must hold patterns of shape [M, N], got no line of numbers in {shown}")
    numbers: list[list[float]] = []
    for index, row in enumerate(rows):
        if len(row) != (width := len(rows[0])):
            raise ValueError(f"path must hold {width} numbers in every line, got {len(row)} in row {index} of {shown}")
        try:
            numbers.append([parse_number(float, text) for text in row])
        except ValueError:
            raise ValueError(f"path must hold numbers alone, got text in row {index} of {shown}") from None
    return np.array(numbers, float).reshape(len(rows), -1)


def _is_name(text: str) -> bool:
    """True if a text has a letter and is neither a truth value nor what Python reads as a number."""
    try:
        float(text)
    except ValueError:
        return any(map(str.isalpha, text)) and text.strip().lower() not in ("true", "false")
    return False


def _load(path: Path, shown: str, name: str | None) -> np.ndarray:
    with _reading(shown):
        regular = path.is_file()  # a pipe or a device could block for ever
    if not regular:
        raise ValueError(f"path must name an existing .npy, .npz or .csv file, got {shown}")
    check_archive(path)
    with _reading(shown), path.open("rb") as file:
        zipped = file.read(2) == b"PK"
        file.seek(0)
        loaded = np.load(file, allow_pickle=False)
        names = list(loaded.files) if zipped else [None]
        chosen = names[0] if name is None and len(names) == 1 else name
        array = (loaded[chosen] if zipped else loaded) if chosen in names else None
    if not names:
        raise ValueError(f"path must hold at least one array, got none in {shown}")
    if chosen not in names:
        known = [*map(repr, names[:8]), *([f"{len(names) - 8} more"] if len(names) > 8 else [])]
        allowed = f"one of {', '.join(known)}" if zipped else "None for a .npy file"
        if name is None:
            raise ValueError(f"path must hold a single array where none is named, got {', '.join(known)} in {shown}")
        raise ValueError(f"name must be {allowed}, got {name!r} with {shown}")
    if not isinstance(array, np.ndarray):
        raise ValueError(f"path must hold arrays, got other data under {chosen!r} in {shown}")
    return array

"""Sources of patterns: an array, packed bits, a file, or a random ensemble whose blocks can be drawn again.

A source hands out its patterns in blocks. `rows(first, size)` works under jit with a traced `first`;
`part(first, size)` cuts out a source that lives on the device, which is how patterns that fit in no memory are walked
through.
"""

from os import PathLike
from typing import Any, ClassVar, cast

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct
from jaxtyping import Array, Float, PRNGKeyArray, UInt32

from hopfield._arguments import as_path, integer, one_of, random_key, real_array, real_matrix
from hopfield._numerics import is_traced, violated
from hopfield._pytrees import changed, fill
from hopfield.patterns import base, ensembles
from hopfield.patterns.base import Index, Source
from hopfield.patterns.bits import pack, random_words, unpack
from hopfield.patterns.datasets import UNSOUND
from hopfield.patterns.ensembles import Ensemble


class Stored(Source):
    """Patterns [M, N] in an array on the device. ValueError unless it is a non-empty real matrix.

    Example:
        >>> from hopfield.patterns import sources
        >>> sources.Stored(jnp.eye(3)).rows(1, 1).tolist()
        [[0.0, 1.0, 0.0]]
    """

    array: Float[Array, "M N"]

    def __post_init__(self) -> None:
        rows = real_array("patterns", self.array)
        if rows.ndim != 2 or 0 in rows.shape:
            raise ValueError(f"patterns must be a non-empty matrix [M, N], got shape {rows.shape}")
        fill(self, array=rows)

    @property
    def shape(self) -> tuple[int, int]:
        return cast(tuple[int, int], self.array.shape)

    @property
    def dtype(self) -> jnp.dtype:
        return self.array.dtype

    def rows(self, first: Index, size: int) -> Float[Array, "size N"]:
        return jax.lax.dynamic_slice_in_dim(self.array, *self._within(first, size))

    def part(self, first: int, size: int) -> Source:
        first, size = self._checked_rows(first, size)
        return changed(self, array=self.array[first : first + size])


class Packed(Source):
    """Spins [M, N] as bits, 32 to the word, a thirty-second of their size in float32.

    Raises:
        ValueError: an entry is neither −1 nor +1.

    Example:
        >>> from hopfield.patterns import sources
        >>> source = sources.Packed(jnp.ones((4, 64)))
        >>> source.bits.shape, source.rows(0, 1).sum().item()
        ((4, 2), 64.0)
    """

    bits: UInt32[Array, "M W"]
    neurons: int = struct.field(pytree_node=False)
    spins: ClassVar[bool] = True

    def __init__(self, rows: Float[Array, "M N"]) -> None:
        rows = Stored(rows).array
        if violated(lambda x: abs(x) == 1, rows):
            raise ValueError("patterns must be spins −1 or +1 to be packed into bits")
        fill(self, bits=pack(rows), neurons=rows.shape[1])

    replace = changed

    @property
    def shape(self) -> tuple[int, int]:
        return self.bits.shape[0], self.neurons

    def words(self, first: Index, size: int) -> UInt32[Array, "size W"]:
        return jax.lax.dynamic_slice_in_dim(self.bits, *self._within(first, size))

    def rows(self, first: Index, size: int) -> Float[Array, "size N"]:
        return unpack(self.words(first, size), self.neurons)

    def part(self, first: int, size: int) -> Source:
        first, size = self._checked_rows(first, size)
        return changed(self, bits=self.bits[first : first + size])


class Generated(Source):
    """Patterns of a random ensemble, drawn anew from (key, index) whenever they are read, and never stored.

    Row μ depends on the key and on μ only, so that its bits are the same whatever the block, the number of devices or
    the machine. Spins are drawn as words of 32, a tenth of the work of `patterns.spins`, which has the same law and
    other bits; every other ensemble is the one of `hopfield.patterns`.

    Args:
        key: random key.
        ensemble: "spins", "biased", "correlated", "gaussian" or "sphere", as in `hopfield.patterns`.
        num_patterns, neurons: M and N, at least 1; each further 2^32 patterns are drawn from a key of their own.
        parameters: what the ensemble takes after N: bias, length or radius.
    Raises:
        ValueError: unknown ensemble, a size below 1, a parameter out of range.

    Example:
        >>> from hopfield.patterns import sources
        >>> source = sources.Generated(jax.random.key(0), "spins", 10**6, 32)
        >>> source.rows(999_999, 1).shape
        (1, 32)
    """

    key: PRNGKeyArray
    first: UInt32[Array, ""]
    parameters: tuple[Array, ...]
    ensemble: Ensemble = struct.field(pytree_node=False)
    count: int = struct.field(pytree_node=False)
    neurons: int = struct.field(pytree_node=False)

    def __init__(
        self, key: PRNGKeyArray, ensemble: Ensemble, num_patterns: int, neurons: int, *parameters: float
    ) -> None:
        one_of("ensemble", ensemble, ensembles.ENSEMBLES)
        count, neurons = integer("num_patterns", num_patterns), integer("neurons", neurons)
        try:
            jax.eval_shape(
                lambda key: getattr(ensembles, ensemble)(key, 1, neurons, *parameters), random_key("key", key)
            )
        except TypeError as error:
            raise ValueError(f"parameters must fit the ensemble {ensemble}, got {parameters}") from error
        given = tuple(jnp.asarray(p) for p in parameters)
        fill(self, key=key, first=jnp.uint32(0), parameters=given, ensemble=ensemble, count=count, neurons=neurons)

    replace = changed

    @property
    def shape(self) -> tuple[int, int]:
        return self.count, self.neurons

    @property
    def spins(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.ensemble in ("spins", "biased", "correlated")

    def rows(self, first: Index, size: int) -> Float[Array, "size N"]:
        first, size = self._within(first, size)
        if self.ensemble == "spins":
            return unpack(self.words(first, size), self.neurons)
        draw = getattr(ensembles, self.ensemble)
        return draw(self.key, size, self.neurons, *self.parameters, first=self._index(first))

    def words(self, first: Index, size: int) -> UInt32[Array, "size W"]:
        if self.ensemble != "spins":
            return super().words(first, size)
        index = self._index(first) + jnp.arange(size, dtype=jnp.uint32)
        return jax.vmap(lambda i: random_words(jax.random.fold_in(self.key, i), self.neurons))(index)

    def _index(self, first: Index) -> UInt32[Array, ""]:
        if self.count > base.FEW:
            raise ValueError(f"patterns beyond 2^32 must be read part by part, got {self.count} of them")
        return self.first + jnp.asarray(first, jnp.uint32)

    def part(self, first: int, size: int) -> Source:
        first, size = self._checked_rows(first, size)
        if self.count <= base.FEW:
            return self.replace(first=self.first + jnp.uint32(first), count=size)
        lap, offset = divmod(first, base.FEW)
        if offset + size > base.FEW:
            raise ValueError(f"first + size must not cross a multiple of 2^32, got {first} + {size}")
        key = jax.random.fold_in(self.key, lap) if lap else self.key
        return self.replace(key=key, first=jnp.uint32(offset), count=size)


class Mapped(Source):
    """Patterns [M, N] of a .npy file, read through a memory map: only the block in use is in memory.

    Raises:
        ValueError: the file is no real matrix.

    Example:
        >>> import tempfile
        >>> from hopfield.patterns import sources
        >>> path = tempfile.mkdtemp() + "/patterns.npy"
        >>> np.save(path, np.eye(3))
        >>> sources.Mapped(path).rows(0, 1).tolist()
        [[1.0, 0.0, 0.0]]
    """

    file: np.ndarray = struct.field(pytree_node=False)

    def __init__(self, path: str | PathLike | np.memmap) -> None:
        fill(self, file=path if isinstance(path, np.memmap) else _mapped(path))

    replace = changed

    @property
    def shape(self) -> tuple[int, int]:
        return self.file.shape[0], self.file.shape[1]

    @property
    def dtype(self) -> jnp.dtype:
        return jnp.result_type(self.file.dtype.type(0))  # of a number: of its type JAX would warn

    @property
    def walked(self) -> bool:
        return True

    def rows(self, first: Index, size: int) -> Float[Array, "size N"]:
        if is_traced(first):
            raise ValueError("first must be a number for patterns in a file: walk through them with part or parts")
        return self.part(int(first), size).array

    def part(self, first: int, size: int) -> Stored:
        first, size = self._checked_rows(first, size)
        rows = self.file[first : first + size]
        with np.errstate(over="ignore"):  # what single precision has no number for
            return Stored(jnp.asarray(np.ascontiguousarray(rows, rows.dtype.newbyteorder("="))))


def _mapped(path: str | PathLike) -> np.ndarray:
    place = as_path("path", path)
    try:
        if not place.is_file():  # a pipe could block for ever
            raise ValueError
        file = np.load(place, mmap_mode="r", allow_pickle=False)
    except UNSOUND as error:
        raise ValueError(f"path must name a readable .npy file, got {str(path)!r}") from error
    real = isinstance(file, np.ndarray) and file.dtype.kind == "f" and file.dtype.itemsize <= 8
    if not real or file.ndim != 2 or 0 in file.shape:
        content = f"{file.dtype} of shape {file.shape}" if isinstance(file, np.ndarray) else type(file).__name__
        raise ValueError(
            "path must name a .npy file of a matrix [M, N] of float16, float32 or float64,"
            f" got {str(path)!r}, which holds {content}"
        )
    return file


def as_source(rows: Any) -> Source:
    """`rows` itself if it is a source, a file mapped into memory as `Mapped`, any other array as `Stored`."""
    if isinstance(rows, Source):
        return rows
    if isinstance(rows, np.memmap) and rows.ndim == 2 and rows.dtype.kind == "f":
        return Mapped(rows)
    return Stored(cast(Array, rows))


def as_patterns(rows: Any) -> Source | Float[Array, "M N"]:
    """Patterns for a memory: a source unchanged, a file mapped into memory as `Mapped`, else a finite real matrix."""
    if isinstance(rows, Source | np.memmap):
        return as_source(rows)
    return real_matrix("patterns", rows)

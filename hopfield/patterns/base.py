"""Base of every source of patterns: its rows block by block, and parts of itself."""

import abc
from collections.abc import Iterator
from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float, Int, UInt32

from hopfield._arguments import integer
from hopfield._numerics import is_traced
from hopfield._pytrees import Node
from hopfield.patterns.bits import pack

Index = int | Int[Array, ""]
FEW = 2**32
"""Rows that one random key numbers; a larger ensemble continues with the next key."""
AT_ONCE = 2**31 - 1
"""Patterns of one compiled call at most: their rows are numbered with 32 bits."""


class Source(Node, abc.ABC):
    """M patterns of N components, handed out in blocks."""

    spins: ClassVar[bool] = False
    """True if `words` hands out the patterns as packed bits."""

    @property
    @abc.abstractmethod
    def shape(self) -> tuple[int, int]:
        """M and N."""

    @property
    def dtype(self) -> jnp.dtype:
        """The type of the numbers that `rows` hands out."""
        return jnp.result_type(float)

    @property
    def walked(self) -> bool:
        """True if compiled functions cannot hold the patterns, which are walked through with `parts` instead."""
        return self.shape[0] > AT_ONCE

    @abc.abstractmethod
    def rows(self, first: Index, size: int) -> Float[Array, "size N"]:
        """Patterns first … first + size − 1, all of them in range."""

    @abc.abstractmethod
    def part(self, first: int, size: int) -> "Source":
        """A source of these patterns alone that can be handed to a compiled function."""

    def words(self, first: Index, size: int) -> UInt32[Array, "size W"]:
        """Rows of the same arguments as bits, 32 spins to the word, bit i % 32 of word i // 32 set where ξ_i = +1."""
        return pack(self.rows(first, size))

    def parts(self, size: int, first: int = 0, stop: int | None = None) -> Iterator[tuple[int, "Source"]]:
        """Patterns first … stop − 1 cut into pieces of `size`, each with the index of its first among all.

        Pieces end at multiples of 2^32, too, where a generated source takes its next key.

        Args:
            size: patterns in a piece, at least 1.
            first, stop: 0 to M; all patterns if not given.
        """
        stop = self.shape[0] if stop is None else stop
        while first < stop:
            count = min(size, stop - first, FEW - first % FEW)
            yield first, self.part(first, count)
            first += count

    def _within(self, first: Any, size: int) -> tuple[Any, int]:
        """First pattern of a block and its size, checked unless traced: JAX would read other patterns than asked."""
        return (first, size) if is_traced(first) else self._checked_rows(first, size)

    def _checked_rows(self, first: int, size: int) -> tuple[int, int]:
        first, size = integer("first", first, 0), integer("size", size)
        if first + size > self.shape[0]:
            raise ValueError(f"first + size must be at most {self.shape[0]} patterns, got {first} + {size}")
        return first, size

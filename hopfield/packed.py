"""Couplings of many neurons from packed bits: Hebb's matrix of spins by its rows and products, and never as a whole.

    W_ij = M − 2 popcount(ξ_i xor ξ_j)        i ≠ j, ξ_i the M bits of neuron i in the patterns

The matrix of 16 000 neurons is 1 GB, and a TFLOP to form. A retrieval from near a pattern needs its product with the
start, and one row for each spin that flips; a row is M/32 words of every neuron.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt32

from hopfield._arguments import instance
from hopfield._numerics import is_traced, nan_outside, violated
from hopfield._parts import check_classical
from hopfield._pytrees import Node, unchecked
from hopfield.couplings import Couplings
from hopfield.memory import Memory
from hopfield.spaces import State

BITS = 32
PLACES = np.arange(BITS, dtype=np.uint32)


class PackedGram(Node):
    """Hebb's matrix Σ_μ ξ_μ ξ_μᵀ of spins without its diagonal, in bits, with what `Couplings` ask of a matrix.

    `words` hold bit μ mod 32 of pattern μ in word μ // 32 of every neuron, `used` the patterns in use. Entries, and
    fields below 2²⁴, are whole numbers and exact. Build with `packed_couplings`.

    Example:
        >>> from hopfield import memories
        >>> gram = packed_couplings(memories.find("classical").build(jnp.array([[1.0, -1, 1], [1, 1, 1]]))).matrix
        >>> gram[0].tolist(), (gram @ jnp.array([1.0, 1, 1])).tolist()
        ([0.0, 0.0, 2.0], [2.0, 0.0, 2.0])
    """

    words: UInt32[Array, "W N"]
    used: UInt32[Array, "W 1"]
    num_patterns: Float[Array, ""]

    @property
    def shape(self) -> tuple[int, int]:
        """Shape [N, N] of the matrix."""
        return self.words.shape[1], self.words.shape[1]

    @property
    def dtype(self) -> jnp.dtype:
        """Floating type of its entries."""
        return self.num_patterns.dtype

    def __getitem__(self, i) -> Float[Array, "N"]:
        def differing(word, total):
            return total + jax.lax.population_count(self.words[word] ^ self.words[word, i]).astype(jnp.int32)

        zero = jnp.zeros(self.shape[0], jnp.int32)
        apart = jax.lax.fori_loop(0, self.words.shape[0], differing, zero, unroll=4)
        return (self.num_patterns - (2 * apart).astype(self.dtype)).at[i].multiply(0)

    def __matmul__(self, state: State) -> Float[Array, "N"]:
        def add(total, packed):
            word, used = packed
            spins = 2.0 * _bits(word) - 1.0
            return total + (_bits(used)[:, 0] * (spins @ state)) @ spins, None

        zero = jnp.zeros(self.shape[0], jnp.result_type(self.dtype, state))
        total, _ = jax.lax.scan(add, zero, (self.words, self.used))
        return total - self.num_patterns * state


def packed_couplings(memory: Memory) -> Couplings:
    """The couplings of `hebb_couplings` with their matrix in bits, of a classical memory of spins.

    Raises:
        ValueError: another memory, or patterns that are no spins; traced, such patterns give couplings of NaN.
    """
    check_classical("memory", instance("memory", memory, Memory))
    rows = memory.stored()
    used = jnp.ones(rows.shape[:1], bool) if memory.mask is None else memory.mask
    spins = lambda rows: jnp.all((jnp.abs(rows) == 1) | ~used[:, None])
    if not is_traced(rows) and violated(spins, rows):
        raise ValueError("patterns must be spins where couplings are packed, got other numbers")
    num_patterns = nan_outside(jnp.sum(used, dtype=rows.dtype), spins(rows))
    matrix: Any = PackedGram(_packed(rows > 0), _packed(used[:, None]), num_patterns)
    return unchecked(Couplings, matrix=matrix, scale=memory.beta)


def _packed(bits: Array) -> Array:
    """Words [W N] of bits [M N], the last one filled up with zeros."""
    filled = jnp.pad(bits, ((0, -bits.shape[0] % BITS), (0, 0)))
    words = filled.reshape(-1, BITS, bits.shape[1])
    return jnp.sum(words.astype(jnp.uint32) << PLACES[None, :, None], axis=1, dtype=jnp.uint32)


def _bits(words: Array) -> Array:
    """Bits [32 N] of words [N] as numbers 0 and 1."""
    return ((words[None, :] >> PLACES[:, None]) & 1).astype(jnp.float32)

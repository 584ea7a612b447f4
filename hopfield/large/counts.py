"""One pass over spin patterns, every answer: how many patterns have which overlap with a query, and which bits.

    C_k = #{μ : ξ_μ·x = s_k},  U_ki = #{μ : ξ_μ·x = s_k, ξ_μi = +1}      s_k = N − 2k, k = 0 … N

Every separation that is a function of a sum over patterns, Σ f(ξ_μ·x), has its potential, its weights, its read-out
and its local fields in these numbers, at any β, exactly. They add up over patterns: one pass gives every M on the way.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from numpy.typing import ArrayLike

from hopfield._checks import instance, whole
from hopfield.large.mesh import all_merge, axes, shard_map_patterns
from hopfield.memory import Memory
from hopfield.patterns.sources import Generated, Packed, Source, as_source, bits, overlaps, pack, packed
from hopfield.separations import LogSumExp, Polynomial
from hopfield.similarities import Dot
from hopfield.spaces import Spins

BLOCK = 1024
"""Patterns at once: their indicators by overlap stay in the cache."""
CHUNK = 2**22
"""Patterns of one call to the device: few enough for sums in float32 to be whole numbers, below 2^24."""
NUMBERS = 2**24
"""Numbers, or words of packed bits, of one call to the device that are cut out of an array or read from a file."""


class Counts(NamedTuple):
    """Patterns by overlap with each of Q queries, and by overlap and bit."""

    queries: np.ndarray
    """Spins [Q, N]."""
    number: np.ndarray
    """C [Q, N + 1], whole numbers in int64."""
    up: np.ndarray
    """U [Q, N + 1, N]."""

    @property
    def scores(self) -> np.ndarray:
        """The overlaps ξ·x that there are, s_k = N − 2k [N + 1]."""
        neurons = self.queries.shape[1]
        return (neurons - 2 * np.arange(neurons + 1)).astype(np.float64)

    @property
    def patterns(self) -> int:
        """M."""
        return int(self.number[0].sum())

    def log_partition(self, beta: float) -> np.ndarray:
        """ln Σ_μ e^(β ξ_μ·x) [Q]."""
        return _log_sum(_log(self.number) + beta * self.scores[None, :])

    def target_weight(self, own: ArrayLike, beta: float) -> np.ndarray:
        """Softmax weight of one pattern whose overlap with the query is `own` [Q]."""
        return np.exp(beta * self._overlaps(own) - self.log_partition(beta))

    def entropy(self, beta: float) -> np.ndarray:
        """Entropy of the softmax weights in nats [Q]."""
        log_z = self.log_partition(beta)
        weight = np.exp(_log(self.number) + beta * self.scores[None, :] - log_z[:, None])
        return log_z - beta * np.sum(weight * self.scores[None, :], axis=1)

    def shares(self, own: ArrayLike, weight: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """|w| of a pattern whose overlap with the query is `own`, as a part of Σ_μ |w(ξ_μ·x)| [Q]; 0 if all vanish."""
        total = self.number @ np.abs(_at(weight, self.scores))
        mine = np.abs(_at(weight, self._overlaps(own)))
        return np.divide(mine, total, out=np.zeros_like(total), where=total != 0)

    def _overlaps(self, own: ArrayLike) -> np.ndarray:
        """Overlaps with the queries, one number or [Q]. ValueError for one that no pattern of spins has."""
        found, neurons = np.asarray(own, np.float64), self.queries.shape[1]
        if found.shape not in ((), (len(self.queries),)):
            raise ValueError(f"own must be one overlap or one per query [{len(self.queries)}], got shape {found.shape}")
        flipped = np.where(np.abs(found) > neurons, 0.5, 0.5 * (neurons - found))
        bad = np.abs(flipped - np.round(flipped)) > 1e-5 * neurons  # mean overlaps times N are whole to rounding
        if np.any(bad):
            raise ValueError(
                f"own must hold overlaps from -{neurons} to {neurons} in steps of 2, got {found[bad][0]:g}"
            )
        return found

    def share_entropy(self, weight: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Entropy of the shares |w| / Σ|w| of all patterns, in nats [Q]."""
        size = np.abs(_at(weight, self.scores))
        total = self.number @ size
        log_size = np.log(size, out=np.zeros_like(size), where=size != 0)
        mean = np.divide(self.number @ (size * log_size), total, out=np.zeros_like(total), where=total != 0)
        return np.log(total, out=np.zeros_like(total), where=total != 0) - mean

    def potential(self, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Σ_μ f(ξ_μ·x) [Q], for f given on arrays of overlaps."""
        return self.number @ _at(function, self.scores)

    def read(self, weight: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Σ_μ w(ξ_μ·x) ξ_μ [Q, N], for w given on arrays of overlaps."""
        return np.einsum("k,qkn->qn", _at(weight, self.scores), 2.0 * self.up - self.number[:, :, None])

    def fields(self, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Local field of every spin [Q, N]: half of what F = Σ f(ξ_μ·x) gains from x_i = −1 to x_i = +1.

        The overlap with all spins but i is s − ξ_i x_i; the own spin never enters.
        """
        field = np.zeros(self.queries.shape)
        down = self.number[:, :, None] - self.up
        for sign, count in ((1.0, self.up), (-1.0, down)):
            rest = self.scores[None, :, None] - sign * self.queries[:, None, :]
            rise = 0.5 * (_at(function, rest + sign) - _at(function, rest - sign))
            # A spin of an overlap that no pattern has may lie outside the range of f.
            field += np.sum(np.where(count > 0, count * np.where(count > 0, rise, 0.0), 0.0), axis=1)
        return field

    def update(self, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """One synchronous step of the sign rule, own spin excluded; a zero field keeps the spin [Q, N]."""
        field = self.fields(function)
        return np.where(field == 0, self.queries, np.sign(field))


def _at(function: Callable[[np.ndarray], np.ndarray], overlaps: np.ndarray) -> np.ndarray:
    """A function of overlaps at an array of them. ValueError unless it gives one number for each."""
    found = np.asarray(function(overlaps))
    if found.shape != overlaps.shape or found.dtype.kind not in "biuf":
        shape = f"{found.dtype} of shape {found.shape}"
        raise ValueError(f"function must give one real number per overlap {overlaps.shape}, got {shape}")
    return found


class Summand(NamedTuple):
    """What one pattern adds to a potential, as a function of its overlap, and its weight; both up to a factor."""

    potential: Callable[[np.ndarray], np.ndarray]
    weight: Callable[[np.ndarray], np.ndarray]


def summand(memory: Memory) -> Summand:
    """f and w = f′ of a memory on spins whose energy is −Σ_μ f(ξ_μ·x), or a function of that sum.

    Both are scaled, by e^(−βN) or powers of N, to lie within the range of double precision for any β.

    Raises:
        ValueError: another similarity, space or separation.
    """
    instance("memory", memory, Memory)
    beta, neurons, separation = float(memory.beta), memory.patterns.shape[1], memory.separation
    if isinstance(memory.similarity, Dot) and isinstance(memory.space, Spins):
        if isinstance(separation, LogSumExp):
            # Differences of f over one spin are in proportion to f: they lose nothing where f is small.
            return Summand(lambda s: np.exp(beta * (s - neurons)), lambda s: np.exp(beta * (s - neurons)))
        if isinstance(separation, Polynomial):
            degree, rectified = separation.degree, separation.rectified
            base = (lambda s: np.maximum(s, 0.0)) if rectified else (lambda s: s)
            # Whole numbers, exact below 2^53, so that a field of zero is the tie it is.
            return Summand(lambda s: base(s) ** degree, lambda s: (base(s) / neurons) ** (degree - 1))
    parts = ", ".join(type(part).__name__ for part in (separation, memory.similarity, memory.space))
    raise ValueError(f"memory must be a sum over dot products with spins, exponential or polynomial, got {parts}")


def count(source, queries: ArrayLike, *, mesh: Mesh | None = None) -> Counts:
    """Count the patterns of a source by their overlap with each query.

    Args:
        source: spin patterns [M, N]: packed, generated, stored or mapped; an array is taken as stored.
        queries: spins [Q, N].
        mesh: devices to spread the patterns over (`hopfield.large.mesh`).

    Raises:
        ValueError: widths differ, or the queries or patterns are not spins.
    """
    source = as_source(source)
    return next(along(source, queries, [source.shape[0]], mesh=mesh))


def along(source, queries: ArrayLike, sizes: Sequence[int], *, mesh: Mesh | None = None) -> Iterator[Counts]:
    """Counts of the first M patterns for every M of `sizes`, in ascending order, from one pass over the largest.

    Args:
        source, queries, mesh: as for `count`.
        sizes: numbers of patterns, 1 to that of the source.
    """
    source = as_source(source)
    states, total = np.asarray(queries, np.float64), source.shape[0]
    if states.ndim != 2 or not len(states) or states.shape[1] != source.shape[1] or not np.all(np.abs(states) == 1):
        raise ValueError(f"queries must be spins [Q, {source.shape[1]}], got shape {states.shape} or other entries")
    stops = sorted({whole("sizes", size) for size in sizes})
    if not stops or stops[-1] > total:
        raise ValueError(f"sizes must be numbers of patterns from 1 to {total}, got {list(sizes)}")
    words, neurons = pack(jnp.asarray(states)), states.shape[1]
    tally = np.zeros((len(states), neurons + 1, neurons + 1), np.int64)
    first = 0
    for stop in stops:
        for found in _chunks(source, words, first, stop, mesh):
            tally += found
        first = stop
        yield Counts(states, tally[:, :, -1].copy(), tally[:, :, :-1].copy())


def _chunks(source: Source, words, first: int, stop: int, mesh: Mesh | None) -> Iterator[np.ndarray]:
    """Counts of the patterns first … stop − 1, chunk by chunk; the next one is computed while the last is added."""
    waiting = None
    for _, part in source.parts(_chunk(source), first, stop):
        size = part.shape[0]
        running = tally(part if source.spins else packed(part.rows(0, size)), words, size, mesh=mesh)
        if waiting is not None:
            yield np.asarray(waiting).astype(np.int64)
        waiting = running
    if waiting is not None:
        yield np.asarray(waiting).astype(np.int64)


def _chunk(source: Source) -> int:
    """Patterns of a chunk: what is kept as numbers is brought to the device in no more than NUMBERS of them."""
    if isinstance(source, Generated) and source.spins:
        return CHUNK
    held = source.bits.shape[1] if isinstance(source, Packed) else source.shape[1]
    return max(1, min(CHUNK, NUMBERS // held))


@partial(jax.jit, static_argnums=2, static_argnames="mesh")
def tally(source: Source, words, total: int, *, mesh: Mesh | None):
    """[Q, N + 1, N + 1]: for every query and overlap the number of patterns with each bit set, and of all of them."""
    if mesh is None:
        return _swept(source, words, jnp.int32(0), total)
    shares, _ = axes(mesh)

    def function(sources, first, words):
        return all_merge(jnp.add, _swept(sources[0], words, first, total), shares)

    return shard_map_patterns(mesh, function, (source,), words)


def _swept(source: Source, words, offset, total: int):
    """A product of indicators, exact in bfloat16, which holds 0 and 1, with sums in float32."""
    count, neurons = source.shape
    block = min(BLOCK, count)
    rank = jnp.arange(neurons + 1)[None, :, None]

    def absorb(sums, i):
        # The last block starts early enough to be full; what was counted before is left out.
        first = jnp.minimum(i * block, count - block)
        local = first + jnp.arange(block)
        used = (local >= i * block) & (offset + local < total)
        found = source.words(first, block)
        distance = (neurons - overlaps(found, words, neurons)) // 2
        share = (distance[:, None, :] == rank).astype(jnp.bfloat16).reshape(-1, block)
        columns = jnp.concatenate([bits(found, neurons, jnp.bfloat16), jnp.ones((block, 1), jnp.bfloat16)], axis=1)
        columns = jnp.where(used[:, None], columns, 0)
        return sums + jnp.dot(share, columns, preferred_element_type=jnp.float32), None

    start = jnp.zeros((words.shape[0] * (neurons + 1), neurons + 1), jnp.float32)
    sums, _ = jax.lax.scan(absorb, start, jnp.arange(-(-count // block)))
    return sums.reshape(words.shape[0], neurons + 1, neurons + 1)


def _log(number: np.ndarray) -> np.ndarray:
    return np.log(number, out=np.full(number.shape, -np.inf), where=number > 0)


def _log_sum(terms: np.ndarray) -> np.ndarray:
    top = terms.max(axis=1, keepdims=True)
    return (top + np.log(np.sum(np.exp(terms - top), axis=1, keepdims=True)))[:, 0]

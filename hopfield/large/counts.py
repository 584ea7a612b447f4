"""Counts of spin patterns by overlap with a query, and by bit: every answer from one pass over the patterns.

    C_k = #{μ : ξ_μ·x = s_k},  U_ki = #{μ : ξ_μ·x = s_k, ξ_μi = +1}      s_k = N − 2k, k = 0 … N

Every separation that is a function of a sum over patterns, Σ f(ξ_μ·x), has its potential, its weights, its read-out
and its local fields in these numbers, at any β, exactly. They add up over patterns: one pass gives every M on the way.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, cast

import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Array
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from hopfield._arguments import integer
from hopfield.large._parts import Parts, as_parts, is_memory
from hopfield.large._tally import tally
from hopfield.patterns.bits import pack
from hopfield.patterns.sources import Generated, Packed, Source, as_source
from hopfield.separations.streams import Summand, streaming
from hopfield.similarities import Dot
from hopfield.spaces import Spins

CHUNK = 2**22
"""Patterns of one call to the device: few enough for sums in float32 to be whole numbers, below 2^24."""
NUMBERS = 2**24
"""Numbers, or words of packed bits, of one call to the device that are cut out of an array or read from a file."""


Function = Parts | Callable[[np.ndarray], np.ndarray]
"""A memory on spins whose energy is a sum over patterns, or the function of an overlap itself, given on arrays."""


class Counts(NamedTuple):
    """Numbers of patterns by overlap with each of Q queries, and by overlap and bit, for any sum over overlaps."""

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
    def num_patterns(self) -> int:
        """Number of patterns M."""
        return int(self.number[0].sum())

    def log_partition(self, beta: float) -> np.ndarray:
        """Logarithm ln Σ_μ e^(β ξ_μ·x) [Q]."""
        return np.asarray(logsumexp(np.broadcast_to(beta * self.scores, self.number.shape), axis=1, b=self.number))

    def target_weight(self, own: ArrayLike, beta: float) -> np.ndarray:
        """Softmax weight of one pattern whose overlap with the query is `own` [Q]."""
        return np.exp(beta * self._overlaps(own) - self.log_partition(beta))

    def entropy(self, beta: float) -> np.ndarray:
        """Entropy of the softmax weights in nats [Q]."""
        log_z = self.log_partition(beta)
        power = np.where(self.number > 0, beta * self.scores[None, :] - log_z[:, None], -np.inf)
        weight = self.number * np.exp(power)
        return log_z - beta * np.sum(weight * self.scores[None, :], axis=1)

    def shares(self, own: ArrayLike, weight: Function) -> np.ndarray:
        """Share of Σ_μ |w(ξ_μ·x)| that a pattern with overlap `own` has [Q]. 0 if all weights vanish."""
        total = np.sum(self.number * np.abs(self._evaluate_part("weight", weight, self.scores)), axis=1)
        mine = np.abs(self._evaluate_part("weight", weight, self._overlaps(own)[..., None]))[:, 0]
        return np.divide(mine, total, out=np.zeros_like(total), where=total != 0)

    def _overlaps(self, own: ArrayLike) -> np.ndarray:
        """Overlaps with the queries, one number or [Q]. ValueError for one that no pattern of spins has."""
        overlaps, neurons = np.asarray(own, np.float64), self.queries.shape[1]
        if overlaps.shape not in ((), (len(self.queries),)):
            raise ValueError(
                f"own must be one overlap or one per query [{len(self.queries)}], got shape {overlaps.shape}"
            )
        flipped = np.where(np.abs(overlaps) > neurons, 0.5, 0.5 * (neurons - overlaps))
        bad = np.abs(flipped - np.round(flipped)) > 1e-5 * neurons  # mean overlaps times N are whole to rounding
        if np.any(bad):
            raise ValueError(
                f"own must hold overlaps from -{neurons} to {neurons} in steps of 2, got {overlaps[bad][0]:g}"
            )
        return overlaps

    def share_entropy(self, weight: Function) -> np.ndarray:
        """Entropy of the shares |w| / Σ|w| of all patterns, in nats [Q]."""
        size = np.abs(self._evaluate_part("weight", weight, self.scores))
        total = np.sum(self.number * size, axis=1)
        log_size = np.log(size, out=np.zeros_like(size), where=size != 0)
        mean = np.divide(
            np.sum(self.number * size * log_size, axis=1), total, out=np.zeros_like(total), where=total != 0
        )
        return np.log(total, out=np.zeros_like(total), where=total != 0) - mean

    def potential(self, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Potential Σ_μ f(ξ_μ·x) [Q], for f given on arrays of overlaps."""
        return self.number @ _evaluate(function, self.scores)

    def read(self, weight: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Read-out Σ_μ w(ξ_μ·x) ξ_μ [Q, N], for w given on arrays of overlaps."""
        return np.einsum("k,qkn->qn", _evaluate(weight, self.scores), 2.0 * self.up - self.number[:, :, None])

    def fields(self, function: Function) -> np.ndarray:
        """Local field of every spin [Q, N]: half of what F = Σ f(ξ_μ·x) gains from x_i = −1 to x_i = +1.

        The overlap with all spins but i is s − ξ_i x_i; the own spin never enters. Fields of a memory agree but for a
        positive factor for every query.
        """
        at = self._evaluate_part("potential", function, self.scores)
        down, first = self.number[:, :, None] - self.up, self.queries[:, None, :] > 0
        # Patterns with the bit less those without, by the overlap with the other spins, N − 1 to 1 − N.
        net = np.where(first, self.up[:, :-1] - down[:, 1:], self.up[:, 1:] - down[:, :-1])
        counted = np.where(first, self.up[:, :-1] + down[:, 1:], self.up[:, 1:] + down[:, :-1])
        # A spin of an overlap that no pattern has may lie outside the range of f.
        rise = np.where(counted > 0, 0.5 * (at[:, :-1] - at[:, 1:])[:, :, None], 0.0)
        return np.sum(net * rise, axis=1)

    def _evaluate_part(self, part: str, function: Function, overlaps: np.ndarray) -> np.ndarray:
        """A function at overlaps [Q or 1, K]; a part of a memory's summand relative to the terms that a query has."""
        if not is_memory(function):
            values = _evaluate(cast(Callable, function), overlaps)
            return np.broadcast_to(values, (len(self.queries), values.shape[-1]))
        ends = [self.scores[np.flatnonzero(number)[[-1, 0]]] for number in self.number]
        terms = summand(cast(Parts, function), np.stack(ends)[:, None])
        return _evaluate(getattr(terms, part), np.broadcast_to(overlaps, (len(ends), overlaps.shape[-1])))

    def update(self, function: Function) -> np.ndarray:
        """One synchronous step of the sign rule, own spin excluded. A zero field keeps the spin [Q, N]."""
        field = self.fields(function)
        return np.where(field == 0, self.queries, np.sign(field))


def _evaluate(function: Callable[[np.ndarray], np.ndarray], overlaps: np.ndarray) -> np.ndarray:
    """A function of overlaps at an array of them. ValueError unless it gives one number for each."""
    values = np.asarray(function(overlaps))
    if values.shape != overlaps.shape or values.dtype.kind not in "biuf":
        shape = f"{values.dtype} of shape {values.shape}"
        raise ValueError(f"function must give one real number per overlap {overlaps.shape}, got {shape}")
    return values


def summand(memory: Parts, held: np.ndarray | None = None) -> Summand:
    """f and w = f′ of a memory on spins whose energy is −Σ_μ f(ξ_μ·x), or a function of that sum; both up to a factor.

    Args:
        memory: on spins.
        held: least and largest overlap [*b, 2] that patterns have, whose terms are not to underflow; any if None.
    Raises:
        ValueError: another similarity, space or separation.
    """
    parts = as_parts(memory).separation, memory.similarity, memory.space
    if isinstance(memory.similarity, Dot) and isinstance(memory.space, Spins):
        neurons = memory.patterns.shape[1]
        held = np.array([-neurons, neurons]) if held is None else held
        form = streaming(memory.separation)
        terms = None if form is None else form.overlap_terms(float(memory.beta), held)
        if terms is not None:
            return terms
    got = ", ".join(type(part).__name__ for part in parts)
    raise ValueError(f"memory must be a sum over dot products with spins, exponential or polynomial, got {got}")


def count(source: Source | ArrayLike, queries: ArrayLike, *, mesh: Mesh | None = None) -> Counts:
    """Counts of the patterns of a source by their overlap with each query.

    Args:
        source: spin patterns [M, N]: packed, generated, stored or mapped; an array is taken as stored.
        queries: spins [Q, N].
        mesh: devices to spread the patterns over (`hopfield.large.mesh`).

    Raises:
        ValueError: widths differ, or the queries or patterns are not spins.
    """
    source = as_source(source)
    return next(along(source, queries, [source.shape[0]], mesh=mesh))


def along(
    source: Source | ArrayLike, queries: ArrayLike, sizes: Sequence[int], *, first: int = 0, mesh: Mesh | None = None
) -> Iterator[Counts]:
    """Counts of the first M patterns for every M of `sizes`, in ascending order, from one pass over the largest.

    Args:
        source, queries, mesh: as for `count`.
        sizes: different numbers of patterns, from 1 to all of the source.
        first: patterns at the beginning that are left out, fewer than the least of `sizes`.
    """
    source = as_source(source)
    states, total = np.asarray(queries, np.float64), source.shape[0]
    if states.ndim != 2 or not len(states) or states.shape[1] != source.shape[1] or not np.all(np.abs(states) == 1):
        raise ValueError(f"queries must be spins [Q, {source.shape[1]}], got shape {states.shape} or other entries")
    stops = sorted(integer("sizes", size) for size in sizes)
    if len(set(stops)) < len(stops):
        raise ValueError(f"sizes must differ from each other, got {list(sizes)}")
    if not stops or stops[-1] > total:
        raise ValueError(f"sizes must be numbers of patterns from 1 to {total}, got {list(sizes)}")
    if not integer("first", first, 0) < stops[0]:
        raise ValueError(f"first must be less than the {stops[0]} patterns of the least size, got {first}")
    words, neurons = pack(jnp.asarray(states)), states.shape[1]
    totals = np.zeros((len(states), neurons + 1, neurons + 1), np.int64)
    for stop in stops:
        for chunk in _chunks(source, words, first, stop, mesh):
            totals += chunk
        first = stop
        yield Counts(states, totals[:, :, -1].copy(), totals[:, :, :-1].copy())


def _chunks(source: Source, words: Array, first: int, stop: int, mesh: Mesh | None) -> Iterator[np.ndarray]:
    """Counts of the patterns first … stop − 1, chunk by chunk. A chunk is computed while the last one is added."""
    waiting = None
    for _, part in source.parts(_chunk(source), first, stop):
        size = part.shape[0]
        running = tally(part if source.spins else Packed(part.rows(0, size)), words, size, mesh=mesh)
        if waiting is not None:
            yield np.asarray(waiting).astype(np.int64)
        waiting = running
    if waiting is not None:
        yield np.asarray(waiting).astype(np.int64)


def _chunk(source: Source) -> int:
    """Number of patterns in a chunk; an array of patterns takes at most NUMBERS numbers to the device."""
    if isinstance(source, Generated) and source.spins:
        return CHUNK
    width = source.bits.shape[1] if isinstance(source, Packed) else source.shape[1]
    return max(1, min(CHUNK, NUMBERS // width))

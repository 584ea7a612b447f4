"""Streams: partial sums by which a separation absorbs patterns block by block, and what each pattern adds to them."""

import abc
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hopfield._arrays import Mask, Scalar, Scores


class Stream(NamedTuple):
    """Partial sums over a block of patterns: Σ of the potential's and of the weighted values' terms, times e^shift.

    Example:
        >>> from hopfield import separations
        >>> softmax, z, rows = separations.LogSumExp(), jnp.array([2.0, 1.0]), jnp.eye(2)
        >>> halves = softmax.block(z[:1], rows[:1]), softmax.block(z[1:], rows[1:])
        >>> potential, output = softmax.finish(softmax.merge(*halves))
        >>> jnp.allclose(output, softmax.weights(z)).item()
        True
    """

    shift: Scalar
    mass: Scalar
    moment: Float[Array, "V"]


class Summand(NamedTuple):
    """Functions of one pattern's overlap: its summand in the potential and its weight, both up to a factor."""

    potential: Callable[[np.ndarray], np.ndarray]
    weight: Callable[[np.ndarray], np.ndarray]


class Blocks(abc.ABC):
    """Weights that are read block by block: what a pass over blocks of patterns adds up, and what it ends with."""

    @abc.abstractmethod
    def log_sizes(self, z: Scores, mask: Mask = None) -> Scores:
        """ln |∇F| [M] up to a number that all patterns share, each entry from its own score only; −∞ where masked.

        Shares and their entropy are formed from it block by block.
        """

    @abc.abstractmethod
    def block(self, z: Scores, values: Float[Array, "M V"], mask: Mask = None) -> Stream:
        """Partial sums of one block of patterns."""

    def merge(self, a: Stream, b: Stream) -> Stream:
        """Partial sums of two disjoint blocks together."""
        return Stream(a.shift, a.mass + b.mass, a.moment + b.moment)

    def finish(self, stream: Stream) -> tuple[Scalar, Float[Array, "V"]]:
        """F(z) and the read-out Σ_μ ∇F_μ values_μ [V] of all the blocks."""
        return stream.mass, stream.moment


class Streaming(Blocks):
    """The part of a separation whose F is Σ_μ f(z_μ), or an increasing function of that sum, that works by blocks.

    A class states it beside `Separation`, with `by_blocks = "sums"`. It defines `log_sizes`, `block` and `summand`; and
    `merge` and `finish`, where sums carry a scale; `overlap_terms`, to be counted by overlap (`large.counts`); the
    three of `fields`, where potentials cancel.

    Example:
        >>> from hopfield import separations
        >>> class Squares(separations.Streaming, separations.Separation):
        ...     by_blocks = "sums"
        ...     def potential(self, z, mask=None): return 0.5 * jnp.sum(self.weights(z, mask) ** 2)
        ...     def weights(self, z, mask=None): return z if mask is None else jnp.where(mask, z, 0.0)
        ...     def log_sizes(self, z, mask=None): return jnp.log(jnp.abs(self.weights(z, mask)))
        ...     def summand(self, scores, beta): return scores**2
        ...     def block(self, z, values, mask=None):
        ...         return separations.Stream(jnp.zeros(()), self.potential(z, mask), self.weights(z, mask) @ values)
        >>> from hopfield import Memory, large
        >>> memory = Memory(jnp.eye(3), separation=Squares())
        >>> large.read(memory, 2.0 * jnp.eye(3)).output.diagonal().tolist()
        [2.0, 2.0, 2.0]
    """

    @abc.abstractmethod
    def summand(self, scores: np.ndarray, beta: float) -> np.ndarray:
        """f(β s) of every score alone in numpy, up to an increasing linear map that all scores share."""

    def log_weight(self, scores: np.ndarray, beta: float) -> np.ndarray:
        """ln |f′(β s)| of every score alone in numpy, up to a common constant."""
        return np.asarray(self.log_sizes(jnp.asarray(beta * scores)), np.float64)

    def overlap_terms(self, beta: float, held: np.ndarray) -> Summand | None:
        """f and w = f′ as functions of an overlap with spins; None where they are not known.

        Args:
            beta: inverse temperature.
            held: least and largest overlap of all patterns [*b, 2]. Both functions are scaled by these, and not by the
                scores of one call, so that every call shares one scale and the largest term fits double precision.
        """
        return None

    def field_block(self, scores: Scores, steps: Float[Array, "M N"], state: Float[Array, "N"], beta, mask) -> Any:
        """Share of one block of patterns in `fields`: partial sums with spin +1 and with spin −1, for every spin."""
        empty = jnp.zeros((scores.size, 0), scores.dtype)

        def streams(step, spin):
            up, down = scores + 0.5 * (1.0 - spin) * step, scores - 0.5 * (1.0 + spin) * step
            return self.block(beta * up, empty, mask), self.block(beta * down, empty, mask)

        return jax.vmap(streams, (1, 0))(steps, state)

    def field_merge(self, a: Any, b: Any) -> Any:
        """`field_block` of two disjoint blocks together."""
        return tuple(jax.vmap(self.merge)(one, other) for one, other in zip(a, b, strict=True))

    def field_finish(self, sums: Any, beta: Scalar) -> Float[Array, "N"]:
        """`fields` of all the blocks."""
        high, low = (jax.vmap(self.finish)(stream)[0] for stream in sums)
        return 0.5 * jnp.where(high == low, 0.0, high - low) / beta


def streaming(separation: Any) -> Streaming | None:
    """The separation if its blocks have sums that are merged, else None."""
    return separation if separation.by_blocks == "sums" and isinstance(separation, Streaming) else None


def summand(separation: Any, scores: np.ndarray, beta: float) -> np.ndarray | None:
    """f(β s) of every score alone if F is Σ_μ f(z_μ) or its logarithm, up to an increasing linear map; else None.

    Of a separation that does not stream it is told from F's values, in JAX's default precision.
    """
    own = streaming(separation)
    if own is not None:
        return own.summand(scores, beta)
    lift = next((lift for lift in (np.asarray, np.exp) if _adds_up(separation, lift)), None)
    if lift is None:
        return None
    alone = np.asarray(jax.vmap(lambda z: separation.potential(z[None]))(jnp.asarray(beta * scores)), np.float64)
    return alone if lift is np.asarray else np.exp(alone - np.max(alone))


def log_weight(separation: Any, scores: np.ndarray, beta: float) -> np.ndarray:
    """ln |f′(β s)| of every score alone, up to a common constant, of a separation with a `summand`."""
    own = streaming(separation)
    if own is not None:
        return own.log_weight(scores, beta)
    with np.errstate(divide="ignore"):
        return np.log(np.abs(np.asarray(separation.weights(jnp.asarray(beta * scores)), np.float64)))


def _adds_up(separation: Any, lift: Callable) -> bool:
    """True if lift(F) is additive over sets of patterns, to the precision of floats. The empty set counts once."""
    scores = jnp.asarray([0.9, -0.4, 0.2, 1.3])
    masks = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1], [0, 0, 0, 0]], bool)
    first, second, both, none = lift(np.asarray([separation.potential(scores, jnp.asarray(mask)) for mask in masks]))
    return bool(abs(first + second - both - none) < 1e-5 * (1 + abs(both)))

"""Positional encodings as objects: added to tokens, rotated into queries and keys, or added to scores as a bias.

    encoding = Rotary(64, base=5e5)
    encoding.rotate(rows, places), .score_bias(query, beta, places, keys), .add_to_inputs(x, places)

Each does one of the three and leaves the rest as it is. A place is a token's position in its sequence, so that one
query of a decoder, a block of queries, or all of them are encoded alike; biases of some queries are formed on demand.

With several update steps keys are turned once and the first query sets the bias, so that both stay fixed while a query
moves: the energy theorem holds as without positions, for every metric that has one.
"""

import abc
from typing import Literal, get_args

import jax.numpy as jnp
from flax import struct
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int

from hopfield._arguments import integer, one_of, positive_array, real_scalar
from hopfield._arrays import Rows, product, same_rank, transposed
from hopfield._numerics import accumulation_dtype
from hopfield._pytrees import Node, changed, fill, unchecked
from hopfield.attention._angles import angles
from hopfield.attention.positions import PAIRINGS, Pairing, alibi_slopes, sinusoidal, t5_buckets, turned_by, windows

Places = Int[Array, "T"]
Bias = Float[Array, "... T S"]
Scaling = Literal["none", "linear", "ntk", "dynamic"]
SCALINGS: tuple[Scaling, ...] = get_args(Scaling)


class Encoding(Node, abc.ABC):
    """Positions of tokens, given to attention in one of three ways. A user's class overrides one of the three methods.

    Example:
        >>> from hopfield import attention
        >>> from hopfield.attention.encodings import Encoding, Sinusoidal
        >>> isinstance(Sinusoidal(), Encoding)
        True
    """

    def add_to_inputs(self, x: Float[Array, "*b T F"], places: Places) -> Float[Array, "*b T F"]:
        """Tokens before they are projected."""
        return x

    def rotate(self, rows: Float[Array, "*b H T D"], places: Places) -> Float[Array, "*b H T D"]:
        """Queries or keys before they are compared."""
        return rows

    def at_length(self, length: Int[Array, ""]) -> "Encoding":
        """The encoding of sequences whose last reading token has this number."""
        return self

    def score_bias(
        self, query: Float[Array, "*b H T D"], beta: Float[Array, "*h"], places: Places, keys: int | Places
    ) -> Float[Array, "*b H T S"] | None:
        """Bias of the scores of queries with the keys at 0 … keys − 1, or at `keys` [S]. None if there is no bias.

        With a number of keys places follow each other, i, i + 1, …, as in a block of queries: only the first place may
        count. With places of keys, as where positions restart, places of queries and keys are arbitrary.
        """
        return None


class Rotary(Encoding):
    """Pair i of a query's and a key's components, turned by place · rate_i, rates base^(−2i/width), i < width/2.

    Args:
        width: components that are turned, even; the others of a vector are left as they are (partial rotary).
        base: sets the slowest rotation.
        pairing: "half" turns (x_0, x_width/2), … as LLaMA does, "interleaved" (x_0, x_1), … as in the paper.
        scaling: for sequences T `factor` times as long as those trained on: "linear" divides places by the factor,
            "ntk" multiplies the base by factor^(width/(width−2)), so that the slowest rotation is as under "linear" and
            the fastest as without, "dynamic" by 1 + factor (T/length − 1) beyond `length` tokens.
        factor, length: ≥ 1; `length`, for "dynamic" alone, is the length of the sequences trained on.
    Raises:
        ValueError: an odd width, an unknown name, or a number outside its range.
    Source: Su et al. 2021, eq. 34 (arXiv:2104.09864); Chen et al. 2023, eq. 4 (arXiv:2306.15595); bloc97 2023 and Peng
        et al. 2023, eq. 16 (arXiv:2309.00071).

    Example:
        >>> from hopfield.attention.encodings import Rotary
        >>> rows, places = jnp.ones((3, 4)), jnp.arange(3)
        >>> turned = Rotary(4).rotate(rows, places)
        >>> jnp.linalg.norm(turned, axis=-1).round(3).tolist()
        [2.0, 2.0, 2.0]
    """

    rates: Float[Array, "R"]
    pairing: Pairing = struct.field(pytree_node=False, default="half")
    growth: tuple[int, float] | None = struct.field(pytree_node=False, default=None)  # length and factor of "dynamic"
    scale: float = struct.field(pytree_node=False, default=1.0)
    """Factor of the turned components, as yarn and long rope have one."""

    def __init__(
        self,
        width: int,
        *,
        base: float = 10000.0,
        pairing: Pairing = "half",
        scaling: Scaling = "none",
        factor: float = 1.0,
        length: int | None = None,
    ) -> None:
        if integer("width", width, 2) % 2:
            raise ValueError(f"width must be even, got {width}")
        real_scalar("base", base, "positive and finite", 1e-30)
        real_scalar("factor", factor, "a finite number of at least 1", 1.0)
        one_of("pairing", pairing, PAIRINGS)
        if one_of("scaling", scaling, SCALINGS) == "none" and factor != 1.0:
            raise ValueError(f"factor must be 1 without a scaling, got {factor}")
        if scaling in ("ntk", "dynamic") and width == 2:
            raise ValueError(f"width must be at least 4 for {scaling} scaling, got {width}")
        if (scaling == "dynamic") != (length is not None):
            raise ValueError(f"length must be given for dynamic scaling alone, got {length} for {scaling}")
        base = base * factor ** (width / (width - 2)) if scaling == "ntk" else base
        rates = [base ** (-2 * i / width) / (factor if scaling == "linear" else 1.0) for i in range(width // 2)]
        growth = None if length is None else (integer("length", length), float(factor))
        fill(self, rates=jnp.asarray(rates, jnp.result_type(float)), pairing=pairing, growth=growth, scale=1.0)

    replace = changed

    def at_length(self, length: Int[Array, ""]) -> "Rotary":
        if self.growth is None:
            return self
        (known, factor), pairs = self.growth, self.rates.shape[-1]
        stretch = jnp.maximum(1.0, 1.0 + factor * (length / known - 1.0)).astype(self.rates.dtype)
        return changed(self, rates=self.rates * stretch ** (-jnp.arange(pairs) / (pairs - 1)), growth=None)

    def rotate(self, rows: Rows, places: Places) -> Rows:
        rates = self.at_length(jnp.max(places, initial=0) + 1).rates
        angle = angles(places[:, None], rates[None, :], accumulation_dtype(rows.dtype))
        return turned_by(rows, angle, self.pairing, self.scale)


class LongRotary(Rotary):
    """Rotary positions with other rates for sequences beyond the length trained on.

    Args:
        short, long: divisors of the rates base^(−2i/width) of the pairs i, in sequences of up to `length` tokens and
            in longer sequences.
        length: tokens of the sequences trained on.
        base, pairing: as in `Rotary`.
        scale: factor of the turned components.
    Raises:
        ValueError: factors that are not positive, or other numbers of short and of long factors.
    Source: Ding et al. 2024, §3 (arXiv:2402.13753).

    Example:
        >>> from hopfield.attention.encodings import LongRotary
        >>> LongRotary([1.0, 1.0], [1.0, 4.0], length=8, base=100.0).at_length(jnp.array(9)).rates.round(3)
        Array([1.   , 0.025], dtype=float32)
    """

    known: int = struct.field(pytree_node=False, default=0)
    beyond: Float[Array, "R"] | None = None

    def __init__(
        self,
        short: ArrayLike,
        long: ArrayLike,
        *,
        length: int,
        base: float = 10000.0,
        pairing: Pairing = "half",
        scale: float = 1.0,
    ) -> None:
        near, far = (positive_array(name, x, jnp.float32) for name, x in (("short", short), ("long", long)))
        if near.ndim != 1 or near.shape != far.shape:
            raise ValueError(f"short and long must be one factor per pair, got shapes {near.shape} and {far.shape}")
        plain = Rotary(2 * len(near), base=base, pairing=pairing)
        rates, beyond = plain.rates / near, plain.rates / far
        length, scale = integer("length", length), real_scalar("scale", scale, "positive and finite", 1e-30)
        fill(self, rates=rates, pairing=pairing, growth=None, scale=float(scale), known=length, beyond=beyond)

    replace = changed

    def at_length(self, length: Int[Array, ""]) -> Rotary:
        rates = jnp.where(length > self.known, jnp.asarray(self.beyond), self.rates)
        return unchecked(Rotary, rates=rates, pairing=self.pairing, scale=self.scale)


class Alibi(Encoding):
    """Bias −slope · |i − j| on the scores of each head, i and j places.

    Its slopes are the published ones of this number of heads (Press, Smith & Lewis 2022, §3).

    Example:
        >>> from hopfield.attention.encodings import Alibi
        >>> Alibi(2).slopes.tolist()
        [0.0625, 0.00390625]
    """

    slopes: Float[Array, "H"]

    def __init__(self, heads: int) -> None:
        fill(self, slopes=jnp.asarray(alibi_slopes(heads), jnp.result_type(float)))

    replace = changed

    def score_bias(self, query: Rows, beta: Float[Array, "*h"], places: Places, keys: int | Places) -> Bias:
        dtype = accumulation_dtype(query.dtype)
        gap = jnp.abs(_distances(places, keys)).astype(dtype)
        return -self.slopes.astype(dtype)[:, None, None] * gap[None]


class T5(Encoding):
    """Learned bias per head and bucket of distances, added to the scores. T5 itself takes β = 1.

    Example:
        >>> from hopfield.attention.encodings import T5
        >>> T5(jnp.ones((32, 2))).score_bias(jnp.ones((3, 4)), jnp.ones(2), jnp.arange(3), 5).shape
        (2, 3, 5)
    """

    table: Float[Array, "buckets H"]
    bidirectional: bool = struct.field(pytree_node=False, default=True)
    max_distance: int = struct.field(pytree_node=False, default=128)

    def score_bias(self, query: Rows, beta: Float[Array, "*h"], places: Places, keys: int | Places) -> Bias:
        def of(distance: Array) -> Array:
            how = {"buckets": self.table.shape[0], "max_distance": self.max_distance}
            bucket = t5_buckets(-distance, bidirectional=self.bidirectional, **how)
            return jnp.moveaxis(jnp.take(self.table, bucket, axis=0), -1, 0)

        if jnp.ndim(keys):
            return of(_distances(places, keys))
        # One look-up per distance, not per pair: rows of places that follow each other are windows of one vector.
        count = places.shape[0]
        return windows(of(places[0] + count - 1 - jnp.arange(count + keys - 1)), count, keys)  # type: ignore[arg-type]


class Relative(Encoding):
    """β q_i · R_(i−j) added to the scores, R [*h, 2L+1, D] learned for i − j = −L … L, distances beyond at its ends.

    Source: Shaw, Uszkoreit & Vaswani 2018, eq. 4 (arXiv:1803.02155), keys only.

    Example:
        >>> from hopfield.attention.encodings import Relative
        >>> near = Relative(jnp.array([[0.0], [5.0], [0.0]]))  # j = i alone
        >>> near.score_bias(jnp.ones((3, 1)), jnp.float32(1), jnp.arange(3), 3).tolist()
        [[5.0, 0.0, 0.0], [0.0, 5.0, 0.0], [0.0, 0.0, 5.0]]
    """

    table: Float[Array, "*h 2L+1 D"]

    def score_bias(self, query: Rows, beta: Float[Array, "*h"], places: Places, keys: int | Places) -> Bias:
        if self.table.ndim < 2 or self.table.shape[-2] % 2 == 0 or self.table.shape[-1] != query.shape[-1]:
            raise ValueError(f"table must be [2 L + 1, D = {query.shape[-1]}], got shape {self.table.shape}")
        dtype = accumulation_dtype(query.dtype)
        by_distance = product(query.astype(dtype), transposed(self.table).astype(dtype))
        by_distance = jnp.multiply(*same_rank(by_distance, beta.astype(dtype)[..., None, None]))
        reach = self.table.shape[-2] // 2
        index = jnp.clip(_distances(places, keys), -reach, reach) + reach
        index, _ = same_rank(index, by_distance)
        index = jnp.broadcast_to(index, (*by_distance.shape[:-1], index.shape[-1]))
        return jnp.take_along_axis(by_distance, index, axis=-1)


class Sinusoidal(Encoding):
    """Sines and cosines of the place added to tokens, rates base^(−2i/F) (Vaswani et al. 2017, §3.5).

    Example:
        >>> from hopfield.attention.encodings import Sinusoidal
        >>> Sinusoidal().add_to_inputs(jnp.zeros((2, 4)), jnp.arange(2))[0].tolist()
        [0.0, 1.0, 0.0, 1.0]
    """

    base: Float[Array, ""] | float = 10000.0

    def __post_init__(self) -> None:
        fill(self, base=jnp.asarray(real_scalar("base", self.base, "positive and finite", 1e-30)))

    def add_to_inputs(self, x: Float[Array, "*b T F"], places: Places) -> Float[Array, "*b T F"]:
        return x + _rows_of(x, sinusoidal(places, x.shape[-1], base=self.base))


class Absolute(Encoding):
    """A learned vector per place added to tokens, as GPT-2 and BERT do. Places beyond the table become NaN.

    Example:
        >>> from hopfield.attention.encodings import Absolute
        >>> Absolute(jnp.eye(3)).add_to_inputs(jnp.zeros((2, 3)), jnp.array([2, 0])).tolist()
        [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """

    table: Float[Array, "L F"]

    def add_to_inputs(self, x: Float[Array, "*b T F"], places: Places) -> Float[Array, "*b T F"]:
        if self.table.ndim != 2 or self.table.shape[-1] != x.shape[-1]:
            raise ValueError(f"table must be [L, F = {x.shape[-1]}] as wide as tokens, got shape {self.table.shape}")
        return x + _rows_of(x, self.table.at[places].get(mode="fill", fill_value=jnp.nan))


def _distances(places: Places, keys: int | Places) -> Int[Array, "T S"]:
    """Distances i − j of queries at places i from keys at places j, or at 0 … keys − 1."""
    keys = jnp.asarray(keys) if hasattr(keys, "shape") else jnp.arange(keys)  # a number may be symbolic
    return places[:, None] - keys[None, :]


def _rows_of(x: Array, rows: Float[Array, "T F"]) -> Array:
    """Rows [T, F] with the axes and the type of x [*b, T, F]."""
    return rows.reshape((1,) * (x.ndim - 2) + rows.shape).astype(x.dtype)

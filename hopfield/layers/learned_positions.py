"""Positions of a layer: encodings by name, as objects, or with parameters that learn.

    encoding = positions()        an `Encoding` of the parameters' present values

T5's and relative biases and absolute places are learned, as in the papers they come from; rotary, ALiBi and sinusoidal
ones have nothing to learn. A user's own is a subclass of `Encoding`, or of `Positions` if it learns.
"""

import abc
from typing import Literal, get_args

import jax
import jax.numpy as jnp
from flax import nnx
from flax.typing import Dtype

from hopfield._arguments import instance, integer, nearest
from hopfield.attention.encodings import T5, Absolute, Alibi, Encoding, Relative, Rotary, Sinusoidal
from hopfield.attention.positions import t5_buckets
from hopfield.layers._fixed import FixedTree

PositionName = Literal["rotary", "alibi", "t5", "relative", "sinusoidal"]
NAMES: tuple[PositionName, ...] = get_args(PositionName)
"""Positions by name, with the options of their papers; with others as objects."""


class Positions(nnx.Module, abc.ABC):
    """Parameters of an encoding; calling it gives the encoding. Layers that share it share its parameters.

    Example:
        >>> from flax import nnx
        >>> from hopfield.layers import AssociationOptions, HopfieldAttention
        >>> options = AssociationOptions(positions="rotary")
        >>> HopfieldAttention(2, 8, options=options, rngs=nnx.Rngs(0))(jnp.ones((1, 5, 8))).shape
        (1, 5, 8)
    """

    @abc.abstractmethod
    def __call__(self) -> Encoding:
        """The encoding of the parameters' present values."""


class FixedPositions(FixedTree, Positions):
    """A given encoding, kept constant: its numbers are swept or loaded, not trained.

    Example:
        >>> from hopfield.attention.encodings import Rotary
        >>> from hopfield.layers import FixedPositions
        >>> FixedPositions(Rotary(8))().rates.shape
        (4,)
    """

    def __init__(self, encoding: Encoding) -> None:
        super().__init__(encoding)

    def __call__(self) -> Encoding:
        return self.value


class T5Positions(Positions):
    """Learned numbers [buckets, H] by bucket of distances, starting as zeros.

    Source: Raffel et al. 2020, §2.1 (arXiv:1910.10683).

    Example:
        >>> from hopfield.layers import T5Positions
        >>> T5Positions(2).table.shape
        (32, 2)
    """

    def __init__(
        self,
        heads: int,
        *,
        buckets: int = 32,
        max_distance: int = 128,
        bidirectional: bool = True,
        param_dtype: Dtype = jnp.float32,
    ) -> None:
        """See `attention.t5_buckets`. Raises ValueError for numbers of buckets or distances that leave none."""
        t5_buckets(jnp.zeros((), int), bidirectional=bidirectional, buckets=buckets, max_distance=max_distance)
        self.table = nnx.Param(jnp.zeros((buckets, integer("heads", heads)), param_dtype))
        self.bidirectional, self.max_distance = bidirectional, max_distance

    def __call__(self) -> Encoding:
        return T5(self.table[...], self.bidirectional, self.max_distance)


class RelativePositions(Positions):
    """Learned vectors [*heads, 2 reach + 1, D] by distance, starting as zeros (Shaw, Uszkoreit & Vaswani 2018).

    Example:
        >>> from hopfield.layers import RelativePositions
        >>> RelativePositions(8, 2, reach=3).table.shape
        (2, 7, 8)
    """

    def __init__(
        self, features: int, heads: int | None = None, *, reach: int = 16, param_dtype: Dtype = jnp.float32
    ) -> None:
        """Vectors of a head's width: one table per head, or one common table if `heads` is None, as in the paper."""
        leading = () if heads is None else (integer("heads", heads),)
        shape = (*leading, 2 * integer("reach", reach) + 1, integer("features", features))
        self.table = nnx.Param(jnp.zeros(shape, param_dtype))

    def __call__(self) -> Encoding:
        return Relative(self.table[...])


class AbsolutePositions(Positions):
    """A learned vector per place [length, F], drawn with standard deviation 0.02, added to a layer's inputs.

    Example:
        >>> from flax import nnx
        >>> from hopfield.layers import AbsolutePositions
        >>> AbsolutePositions(5, 8, rngs=nnx.Rngs(0)).table.shape
        (5, 8)
    """

    def __init__(self, length: int, features: int, *, param_dtype: Dtype = jnp.float32, rngs: nnx.Rngs) -> None:
        shape = (integer("length", length), integer("features", features))
        instance("rngs", rngs, nnx.Rngs)
        self.table = nnx.Param(nnx.initializers.normal(0.02)(rngs.params(), shape, param_dtype))

    def __call__(self) -> Encoding:
        return Absolute(self.table[...])


def as_positions(
    positions: "Positions | Encoding | str | None", heads: int, width: int, param_dtype: Dtype
) -> Positions | None:
    """Positions for a layer with this number and width of heads. None stays None.

    Raises:
        ValueError: an unknown name, or an encoding of other heads.
        TypeError: something else than a name, an `Encoding` or `Positions`.
    """
    if positions is None:
        return None
    if isinstance(positions, Positions | Encoding):
        return _fitting(FixedPositions(positions) if isinstance(positions, Encoding) else positions, heads, width)
    if not isinstance(positions, str):
        raise TypeError(f"positions must be a name, an Encoding or Positions, got {type(positions).__name__}")
    check_name(positions)
    if positions == "t5":
        return T5Positions(heads, param_dtype=param_dtype)
    if positions == "relative":
        return RelativePositions(width, param_dtype=param_dtype)
    if positions == "rotary":
        return FixedPositions(Rotary(width))
    if positions == "alibi":
        return FixedPositions(Alibi(heads))
    return FixedPositions(Sinusoidal())


def check_name(name: str) -> None:
    """Check that positions of that name are among NAMES. ValueError otherwise."""
    if name not in NAMES:
        known = f"one of {', '.join(NAMES)}, an Encoding or Positions"
        raise ValueError(f"positions must be {known}, got {name!r}{nearest(name, NAMES)}")


def _fitting(positions: Positions, heads: int, width: int) -> Positions:
    """Positions, unchanged. ValueError unless they encode queries of this number of heads and this width."""
    encoding = positions()
    rows, beta, places = jnp.zeros((1, heads, 2, width)), jnp.ones(heads), jnp.arange(2)

    def encode():
        return encoding.rotate(rows, places), encoding.score_bias(rows, beta, places, 2)

    try:
        turned, bias = jax.eval_shape(encode)
        scores = (1, heads, 2, 2)
        fits = turned.shape == rows.shape and (bias is None or jnp.broadcast_shapes(bias.shape, scores) == scores)
    except (TypeError, ValueError):
        fits = False
    if not fits:
        shapes = ", ".join(str(list(leaf.shape)) for leaf in jax.tree.leaves(encoding))
        raise ValueError(
            f"positions must fit {heads} heads of width {width}, got {type(encoding).__name__} of {shapes}"
        )
    return positions

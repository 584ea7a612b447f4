"""HopfieldAssociation: the association of queries with keys, for `nnx.MultiHeadAttention(attention_fn=…)`."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from flax import nnx
from flax.typing import Dtype, PrecisionLike
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float, Int

from hopfield._arguments import instance, integer
from hopfield._numerics import lets_infinities_pass, tolerance, wide
from hopfield.attention.encodings import Encoding
from hopfield.dynamics import CONVERGED
from hopfield.layers._iteration import settle
from hopfield.layers._places import rotated
from hopfield.layers._plain import plain_or
from hopfield.layers._reading import (
    Dropout,
    KeyValues,
    by_sequence,
    fits_attention,
    fits_kernel,
    fits_ring,
    in_blocks,
    known,
    queries_at_once,
    read_blockwise,
    read_ring,
)
from hopfield.layers._scope import Heads, MaskLike, Scope, Scores, by_head, check_heads, scope_of
from hopfield.layers._separations import separation_of
from hopfield.layers.attention_function import AttentionFunction
from hopfield.layers.learned_positions import as_positions
from hopfield.layers.options import DEFAULT, AssociationOptions, points_to_options
from hopfield.observables import thermodynamics


class AssociationReport(NamedTuple):
    """Findings of a layer, on request: weights [*b, H, T, S], and the rest per head and query [*b, H, T].

    Example:
        >>> from flax import nnx
        >>> from hopfield.layers import HopfieldAttention
        >>> report = HopfieldAttention(2, 8, rngs=nnx.Rngs(0)).inspect(jnp.ones((1, 5, 8)))
        >>> report.weights.shape, report.entropy.shape
        ((1, 2, 5, 5), (1, 2, 5))
    """

    weights: Scores
    energy: Float[Array, "*b H T"]
    """E = ½ ξ g ξ − F(β ξ g k)/β of the state that is read."""
    entropy: Float[Array, "*b H T"]  # Shannon's, of the weights, in nats
    steps: Int[Array, "*b H T"]
    """Updates that moved the state; the read-out is not one of them."""
    status: Int[Array, "*b H T"]
    """Index of `dynamics.STATUS`; the step limit where update_steps = 1, as nothing is iterated."""

    @property
    def converged(self) -> Bool[Array, "*b H T"]:
        """True if the state is at rest; False for update_steps = 1."""
        return self.status == CONVERGED


class HopfieldAssociation(AttentionFunction):
    """Scores, weights and read-out of a layer, with what it learns about them.

    For `nnx.MultiHeadAttention(attention_fn=…)`; `HopfieldAttention` is that layer with it already in place. With the
    default options it computes what `nnx.dot_product_attention` does; a query that may read no key gets zeros.

    Example:
        >>> from flax import nnx
        >>> from hopfield.layers import HopfieldAssociation
        >>> association = HopfieldAssociation(2, 4, rngs=nnx.Rngs(0))
        >>> association(*[jnp.ones((1, 5, 2, 4))] * 3).shape
        (1, 5, 2, 4)
    """

    @points_to_options
    def __init__(
        self,
        num_heads: int,
        head_features: int,
        options: AssociationOptions = DEFAULT,
        *,
        num_kv_heads: int | None = None,
        param_dtype: Dtype = jnp.float32,
        rngs: nnx.Rngs | None = None,
    ) -> None:
        """The association of a layer with these heads, trained with it.

        Args:
            num_heads, head_features: H, and D = qkv_features / H, of the layer it goes into.
            options: separation, metric, β, steps and the like.
            num_kv_heads: heads of keys and values, H if None; needed for memory slots only.
            param_dtype: of what is learned.
            rngs: for a "low_rank" metric only.
        Raises:
            ValueError: an option that does not fit the heads.
        """
        num_heads, head_features = integer("num_heads", num_heads), integer("head_features", head_features)
        rngs = nnx.Rngs(0) if rngs is None else rngs
        instance("rngs", rngs, nnx.Rngs)
        instance("options", options, AssociationOptions)
        self.num_heads, self.update_steps, self.rtol = num_heads, options.update_steps, options.rtol
        self.gradient, self.block = options.gradient, options.block
        self.window, self.window_first = options.window, options.window_first
        self.score, self.ring = options.score, options.ring
        self.separation = separation_of(options.separation, options.learn_alpha, num_heads, param_dtype)
        self.null_score = nnx.data(nnx.Param(jnp.zeros(num_heads, param_dtype)) if options.learn_null_score else None)
        self.beta = options.learned_beta(num_heads, head_features, param_dtype)
        self.metric = nnx.data(options.learned_metric(num_heads, head_features, param_dtype, rngs))
        self.positions = nnx.data(as_positions(options.positions, num_heads, head_features, param_dtype))
        shape = (num_kv_heads or num_heads, options.memory_slots, head_features)
        self.slots = nnx.data(nnx.Param(jnp.zeros(shape, param_dtype)) if options.memory_slots else None)

    @property
    def kept(self) -> tuple[int, int] | None:
        """Keys of the window, and first ones beside it. None without a window."""
        return None if self.window is None else (self.window, self.window_first)

    def read_heads(
        self,
        query: Heads,
        key: Float[Array, "*b S K D"],
        value: Float[Array, "*b S K D"],
        *,
        scope: Scope,
        dropout: Dropout | None = None,
        precision: PrecisionLike = None,
        module: nnx.Module | None = None,
    ) -> Heads:
        if self.positions is not None and type(self.positions()).add_to_inputs is not Encoding.add_to_inputs:
            raise ValueError(
                "positions must be given to a HopfieldAttention where they are added to inputs, which an association "
                f"does not see, got {type(self.positions()).__name__}"
            )
        if self.positions is not None and query.shape[-3] != key.shape[-3]:
            raise ValueError(
                "positions must be given to a HopfieldAttention where queries are not the keys, as in decoding, "
                f"got {query.shape[-3]} queries and {key.shape[-3]} keys"
            )
        return read(self, query, key, value, scope, dropout, precision=precision, module=module)

    @lets_infinities_pass
    def inspect(
        self,
        query: Heads,
        key: Float[Array, "*b S K D"],
        mask: MaskLike = None,
        *,
        bias: Scores | None = None,
        is_causal: bool = False,
        precision: PrecisionLike = None,
    ) -> AssociationReport:
        """Weights, energy, entropy and retrieval status of every query. The slots' weights are the last ones."""
        scope = scope_of(mask, bias, query.shape, key.shape[-3], is_causal=is_causal)
        reading, state = reading_of(self, query, key, key, scope, precision=precision)
        return _report(reading.replace(steps=0), state, reading.steps)


@jax.jit
def _report(reading: KeyValues, state: Float[Array, "*b H T D"], steps: ArrayLike) -> AssociationReport:
    memory = reading.memory(state)
    end = settle(memory, state, steps, reading.rtol)
    weights = memory.weights(end.state)
    entropy = thermodynamics.entropy(weights)
    return AssociationReport(weights, memory.energy(end.state), entropy, end.steps, end.status)


@lets_infinities_pass
def read(
    association: HopfieldAssociation,
    query: Heads,
    key: Float[Array, "*b S K D"],
    value: Float[Array, "*b S K D"],
    scope: Scope,
    dropout: Dropout | None = None,
    *,
    precision: PrecisionLike = None,
    module: nnx.Module | None = None,
) -> Heads:
    """Read-out of every query by a layer's association, all at once or in blocks; a `module` sows all the weights."""
    rows = query, key, value
    careful = lambda: _read(association, *reading_of(association, *rows, scope, dropout, precision=precision), module)
    plain = module is None and precision is None and dropout is None
    return plain_or(careful, association, rows, scope) if plain else careful()


def _read(
    association: HopfieldAssociation, reading: KeyValues, state: Float[Array, "*b H T D"], module: nnx.Module | None
) -> Heads:
    queries, sized = state.shape[-2], known(state.shape, reading.key.shape)
    length = queries_at_once(state.shape, reading.key.shape[-2], association.block) if sized else None
    if association.ring is not None and (module is not None or not sized or not fits_ring(reading)):
        raise ValueError(
            "ring must be left out with biases, arrays as masks, dropout, weights that are sown, a precision, decoding "
            "and lengths that are exported"
        )
    if module is not None:
        memory = reading.memory(state)
        output, weights = reading.weighed(memory, reading.state(memory, state), queries)
        module.sow(nnx.Intermediate, "attention_weights", weights)
    elif not sized:
        output = reading.read(state, queries)
    elif association.ring is not None:
        output = read_ring(reading, state, association.ring)
    elif fits_kernel(reading, state) or (length is not None and fits_attention(reading)):
        output = read_blockwise(reading, state)
    elif length is None:
        output = by_sequence(reading, state)
    else:
        one = lambda part, rows, row: (None, part.read(rows, queries, row))
        _, output = in_blocks(one, reading, state, length)
    return jnp.swapaxes(output, -3, -2)


def reading_of(
    association: HopfieldAssociation,
    query: Heads,
    key: Float[Array, "*b S K D"],
    value: Float[Array, "*b S K D"],
    scope: Scope,
    dropout: Dropout | None = None,
    *,
    precision: PrecisionLike = None,
) -> tuple[KeyValues, Float[Array, "*b H T D"]]:
    """Keys and values by head with everything that reads them, and the queries by head. Both have their positions."""
    check_heads(query, key, association.num_heads)
    if association.kept is not None:
        scope = scope.windowed(association.kept, query.shape[-3], key.shape[-3])
    state, key = (_wide_if_iterated(association, jnp.swapaxes(x, -3, -2)) for x in (query, key))
    encoding = None if association.positions is None or scope.turned else association.positions()
    if encoding is not None:
        state, key = rotated(encoding, scope, state, key)
    slots = None if association.slots is None else association.slots[...]
    empty = None if slots is None else jnp.zeros_like(slots)
    metric = (
        None if association.metric is None else jax.tree.map(lambda leaf: leaf.astype(key.dtype), association.metric())
    )
    reading = KeyValues(
        key=by_head(key, association.num_heads, empty),
        value=by_head(jnp.swapaxes(value, -3, -2), association.num_heads, slots),
        beta=association.beta(),
        rtol=tolerance(state.dtype) if association.rtol is None else association.rtol,
        scope=scope,
        metric=metric,
        encoding=encoding,
        dropout=dropout,
        null_score=None if association.null_score is None else association.null_score[...],
        score=association.score,
        separation=association.separation.value,
        slots=0 if slots is None else slots.shape[-2],
        steps=association.update_steps - 1,
        implicit=association.gradient == "implicit",
        precision=precision,
    )
    return reading, state


def _wide_if_iterated(association: HopfieldAssociation, rows: Array) -> Array:
    """Rows in float32 at least where there are several steps: in 16 bits these end where their rounding does."""
    return rows if association.update_steps == 1 else wide(rows)

"""Hopfield, HopfieldPooling and HopfieldLayer: association of normalised patterns, by the names of hopfield-layers.

    Hopfield          queries (state patterns) and stored patterns are both inputs
    HopfieldPooling   the queries are learned: a set of inputs is pooled into `quantity` vectors
    HopfieldLayer     the stored patterns are learned: a trainable look-up table

Each takes the `HopfieldAttention` that does the association. Source: Ramsauer et al. 2021, §3.
"""

import jax.numpy as jnp
from flax import nnx
from jaxtyping import Array, Float

from hopfield._arguments import flag, instance, integer, real_array
from hopfield.layers._cache import next_places
from hopfield.layers._fixed import FixedParam
from hopfield.layers._held import Held
from hopfield.layers._places import over_sequences
from hopfield.layers._scope import MaskLike, Scores, check_tokens
from hopfield.layers.association import AssociationReport
from hopfield.layers.attention import HopfieldAttention, Inputs

EPSILON = 1e-5
"""Addition to the variance in layer norms, as PyTorch does."""


class Hopfield(nnx.Module):
    """Association of queries with stored patterns, each normalised first and each kind with its own scale and bias.

    Example:
        >>> from flax import nnx
        >>> from hopfield.layers import Hopfield, HopfieldAttention
        >>> rngs = nnx.Rngs(0)
        >>> layer = Hopfield(HopfieldAttention(2, 8, rngs=rngs), rngs=rngs)
        >>> layer(jnp.ones((1, 3, 8)), jnp.ones((1, 5, 8))).shape
        (1, 3, 8)
    """

    def __init__(
        self, attention: HopfieldAttention, *, normalise: bool = True, affine: bool = True, rngs: nnx.Rngs
    ) -> None:
        """Wrap an attention layer.

        Args:
            attention: does the association; its β, steps, metric and separation define the memory.
            normalise: layer norms of queries, stored patterns and their projections.
            affine: give these norms a scale and a bias to learn.
        """
        instance("attention", attention, HopfieldAttention)
        instance("rngs", rngs, nnx.Rngs)
        self.attention = attention
        self.query_norm = nnx.data(_norm(attention, attention.in_features, normalise, affine, rngs))
        self.stored_norm = nnx.data(_norm(attention, attention.in_kv_features, normalise, affine, rngs))
        self.projection_norm = nnx.data(_norm(attention, attention.value_features, normalise, affine, rngs))

    def __call__(
        self,
        query: Inputs,
        stored: Inputs | None = None,
        projection: Inputs | None = None,
        *,
        mask: MaskLike = None,
        bias: Scores | None = None,
        deterministic: bool | None = None,
        rngs: nnx.Rngs | None = None,
    ) -> Float[Array, "*b T O"]:
        """Read-out of every query [*b, T, out_features].

        Args:
            query: state patterns [*b, T, F].
            stored: stored patterns [*b, S, F]; the queries if None.
            projection: what is read in their place [*b, S, F], without added positions; the stored patterns if None.
            mask, bias: stored patterns that may be read, and what is added to their scores, as for `HopfieldAttention`.
            deterministic, rngs: dropout, as in Flax.
        """
        stored = query if stored is None else stored
        query = self._normed("query", query)
        options = {"mask": mask, "bias": bias, "deterministic": deterministic, "rngs": rngs}
        return self.attention(query, *self._normed_stored(stored, projection), **options)

    def _normed_stored(self, stored: Inputs, projection: Inputs | None) -> tuple[Array, Array]:
        """Inputs of keys and of values, normalised; what is read in no other's place has its positions."""
        key = self._normed("stored", stored)
        value = self._normed("projection", stored if projection is None else projection)
        if projection is None and self.attention.attention_fn.positions is not None:
            tokens = value.shape[-2]
            places = next_places(self.attention, tokens) if self.attention.decode else jnp.arange(tokens)
            value = over_sequences(self.attention.attention_fn.positions().add_to_inputs, value, places)
        return key, value

    def inspect(
        self, query: Inputs, stored: Inputs | None = None, *, mask: MaskLike = None, bias: Scores | None = None
    ) -> AssociationReport:
        """Weights, energy, entropy and retrieval status, as `HopfieldAttention.inspect`."""
        stored = query if stored is None else stored
        return self.attention.inspect(
            self._normed("query", query), self._normed("stored", stored), mask=mask, bias=bias
        )

    def _normed(self, name: str, inputs: Inputs) -> Array:
        """Inputs under the norm of their kind. ValueError for another width than the layer was built for."""
        widths = {"query": self.attention.in_features, "stored": self.attention.in_kv_features}
        tokens = real_array("inputs", inputs, self.attention.param_dtype)
        check_tokens(name, tokens, widths.get(name, self.attention.value_features))
        norm = getattr(self, f"{name}_norm")
        return tokens if norm is None else norm(tokens)


class HopfieldPooling(nnx.Module):
    """Pools any number of inputs into `quantity` vectors, each read with one learned query.

    Example:
        >>> from flax import nnx
        >>> from hopfield.layers import HopfieldAttention, HopfieldPooling
        >>> rngs = nnx.Rngs(0)
        >>> HopfieldPooling(HopfieldAttention(2, 8, rngs=rngs), 1, rngs=rngs)(jnp.ones((4, 9, 8))).shape
        (4, 8)
    """

    def __init__(
        self,
        attention: HopfieldAttention,
        quantity: int = 1,
        *,
        trainable: bool = True,
        normalise: bool = True,
        affine: bool = True,
        rngs: nnx.Rngs,
    ) -> None:
        """See `Hopfield`; `quantity` ≥ 1 queries, drawn with standard deviation 0.02, held fixed unless `trainable`."""
        self.hopfield = Hopfield(attention, normalise=normalise, affine=affine, rngs=rngs)
        self.queries = _patterns(quantity, attention.in_features, attention, trainable, rngs)

    def __call__(
        self,
        stored: Inputs,
        projection: Inputs | None = None,
        *,
        mask: MaskLike = None,
        bias: Scores | None = None,
        deterministic: bool | None = None,
        rngs: nnx.Rngs | None = None,
    ) -> Float[Array, "*b P"]:
        """Pooled vectors side by side [*b, quantity · out_features], for inputs [*b, S, F]."""
        query = _in_type_of(self.queries[...], stored)
        pooled = self.hopfield(query, stored, projection, mask=mask, bias=bias, deterministic=deterministic, rngs=rngs)
        return pooled.reshape(*pooled.shape[:-2], pooled.shape[-2] * pooled.shape[-1])

    def inspect(self, stored: Inputs, *, mask: MaskLike = None, bias: Scores | None = None) -> AssociationReport:
        """Weights, energy, entropy and retrieval status of the learned queries."""
        return self.hopfield.inspect(_in_type_of(self.queries[...], stored), stored, mask=mask, bias=bias)


class HopfieldLayer(nnx.Module):
    """A look-up in `quantity` learned patterns: what every input retrieves from them.

    Example:
        >>> from flax import nnx
        >>> from hopfield.layers import HopfieldAttention, HopfieldLayer
        >>> rngs = nnx.Rngs(0)
        >>> HopfieldLayer(HopfieldAttention(2, 8, rngs=rngs), 6, rngs=rngs)(jnp.ones((4, 3, 8))).shape
        (4, 3, 8)
    """

    def __init__(
        self,
        attention: HopfieldAttention,
        quantity: int = 1,
        *,
        separate_targets: bool = False,
        trainable: bool = True,
        normalise: bool = True,
        affine: bool = True,
        rngs: nnx.Rngs,
    ) -> None:
        """See `Hopfield`. With `separate_targets` the values that are read are learned apart from the keys."""
        self.hopfield = Hopfield(attention, normalise=normalise, affine=affine, rngs=rngs)
        self.patterns = _patterns(quantity, attention.in_kv_features, attention, trainable, rngs)
        targets = (
            _patterns(quantity, attention.value_features, attention, True, rngs)
            if flag("separate_targets", separate_targets)
            else None
        )
        self.targets = nnx.data(targets)
        self.held = nnx.data(None)

    def hold(self, held: bool = True) -> None:
        """Keep keys and values of the patterns as they are now: calls then project none, and no gradient reaches them.

        For layers that are read, not trained: after training, or other weights, hold them again. `inspect` does not.
        """
        targets = None if self.targets is None else self.targets[...]
        stored = self.hopfield._normed_stored(self.patterns[...], targets)
        self.held = nnx.data(Held(self.hopfield.attention, *stored) if flag("held", held) else None)

    def __call__(
        self,
        query: Inputs,
        *,
        mask: MaskLike = None,
        bias: Scores | None = None,
        deterministic: bool | None = None,
        rngs: nnx.Rngs | None = None,
    ) -> Float[Array, "*b T O"]:
        """Read-out of every input [*b, T, out_features], for inputs [*b, T, F]; `mask` is over the patterns."""
        if self.held is not None:
            options = {"mask": mask, "bias": bias, "deterministic": deterministic, "rngs": rngs}
            return self.held.look_up(self.hopfield.attention, self.hopfield._normed("query", query), **options)
        stored = _in_type_of(self.patterns[...], query)
        targets = None if self.targets is None else _in_type_of(self.targets[...], query)
        return self.hopfield(query, stored, targets, mask=mask, bias=bias, deterministic=deterministic, rngs=rngs)

    def inspect(self, query: Inputs, *, mask: MaskLike = None, bias: Scores | None = None) -> AssociationReport:
        """Weights over the learned patterns, energy, entropy and retrieval status."""
        return self.hopfield.inspect(query, _in_type_of(self.patterns[...], query), mask=mask, bias=bias)


def _norm(
    attention: HopfieldAttention, width: int, normalise: bool, affine: bool, rngs: nnx.Rngs
) -> nnx.LayerNorm | None:
    if not flag("normalise", normalise):
        return None
    return nnx.LayerNorm(
        width,
        epsilon=EPSILON,
        use_bias=flag("affine", affine),
        use_scale=affine,
        dtype=attention.dtype,
        param_dtype=attention.param_dtype,
        use_fast_variance=False,
        rngs=rngs,
    )


def _patterns(
    quantity: int, width: int, attention: HopfieldAttention, trainable: bool, rngs: nnx.Rngs
) -> nnx.Param | FixedParam:
    integer("quantity", quantity)
    start = nnx.initializers.normal(0.02)(rngs.params(), (quantity, width), attention.param_dtype)
    return nnx.Param(start) if flag("trainable", trainable) else FixedParam(start)


def _in_type_of(patterns: Array, inputs: Array) -> Array:
    """Learned patterns [Q, F], which all sequences share, in the inputs' type if it is the wider one."""
    return patterns.astype(jnp.promote_types(patterns.dtype, real_array("inputs", inputs).dtype))

"""Encodings of tokens whose places differ between sequences, by the methods that know the places of one."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

from hopfield.attention.encodings import Encoding
from hopfield.layers._scope import Scope


def over_sequences(function: Callable[[Array, Array], Array], rows: Array, places: Int[Array, "*b T"]) -> Array:
    """Results of function(rows, places) for rows [*b, ...] and places of all sequences [T], or of each [*b, T]."""
    leading = places.shape[:-1]
    rows = jnp.broadcast_to(rows, (*leading, *rows.shape[len(leading) :])) if leading else rows
    for _ in leading:
        function = jax.vmap(function)
    return function(rows, places)


def turns_once(encoding: Encoding) -> bool:
    """True if an encoding only turns rows by their own places, whatever the length of the sequence."""
    kind = type(encoding)
    turns = kind.rotate is not Encoding.rotate and kind.score_bias is Encoding.score_bias
    return turns and encoding.at_length(jnp.ones((), int)) is encoding


def rotated(encoding: Encoding, scope: Scope, query: Array, key: Array) -> tuple[Array, Array]:
    """Queries and keys turned by their places."""
    places = scope.places(jnp.arange(query.shape[-2])), scope.keys(key.shape[-2])
    if scope.restarts is not None:
        places = scope.restarts, scope.restarts
    encoding = encoding.at_length(jnp.max(places[0], initial=0) + 1)
    return over_sequences(encoding.rotate, query, places[0]), over_sequences(encoding.rotate, key, places[1])


def place_bias(
    encoding: Encoding | None, query: Array, beta: Array, scope: Scope, rows: Int[Array, "T"], keys: int
) -> Array | None:
    """Bias of the scores of the queries [*b, H, T, D] in `rows` with the first `keys` keys."""
    if encoding is None or type(encoding).score_bias is Encoding.score_bias:
        return None
    bias_of: Any = encoding.score_bias
    places: Any = scope.places(rows)
    columns: Any = scope.start
    if scope.restarts is not None:
        places, columns = jnp.take(scope.restarts, rows, axis=-1, mode="clip"), scope.restarts
    if jnp.ndim(columns) == 0:
        places = places - columns
        if places.ndim == 1:
            return bias_of(query, beta, places, keys)
        columns = None

    def one(query: Array, place: Array, columns: Any) -> Array:  # places that need not follow each other
        if columns is None:
            bias = lambda query, place: bias_of(query[..., None, :], beta, place[None], keys)[..., 0, :]
            return jax.vmap(bias, in_axes=(-2, 0), out_axes=-2)(query, place)
        return bias_of(query, beta, place, columns)

    leading = jnp.broadcast_shapes(*(x.shape[:-1] for x in (places, columns) if x is not None))
    spread: Any = lambda x, kept: None if x is None else jnp.broadcast_to(x, (*leading, *x.shape[x.ndim - kept :]))
    query = spread(query, query.ndim - len(leading))
    for _ in leading:
        one = jax.vmap(one, in_axes=(0, 0, None if columns is None else 0))
    return one(query, spread(places, 1), spread(columns, 1))

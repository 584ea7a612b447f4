"""Encodings of tokens whose places differ between sequences, by the methods that know the places of one."""

from collections.abc import Callable

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
    """Whether all that an encoding does is to turn rows by their own places, whatever the length of the sequence."""
    kind = type(encoding)
    turns = kind.rotate is not Encoding.rotate and kind.score_bias is Encoding.score_bias
    return turns and encoding.at_length(jnp.ones((), int)) is encoding


def rotated(encoding: Encoding, scope: Scope, query: Array, key: Array) -> tuple[Array, Array]:
    """Queries and keys turned by their places. ValueError for positions that restart where distances are a bias."""
    places = scope.places(jnp.arange(query.shape[-2])), scope.keys(key.shape[-2])
    if jnp.ndim(scope.start) and type(encoding).score_bias is not Encoding.score_bias:
        raise ValueError("window_first must be left out with biases of distances where a window is decoded")
    if scope.restarts is not None:
        places = scope.restarts, scope.restarts
        if type(encoding).score_bias is not Encoding.score_bias:
            raise ValueError("positions must be left out with biases of distances, which do not restart")
    encoding = encoding.at_length(jnp.max(places[0], initial=0) + 1)
    return over_sequences(encoding.rotate, query, places[0]), over_sequences(encoding.rotate, key, places[1])


def place_bias(
    encoding: Encoding | None, query: Array, beta: Array, places: Int[Array, "*b T"], keys: int
) -> Array | None:
    """Bias of the scores of queries [*b, H, T, D] at these places with the keys at 0 … keys − 1."""
    if encoding is None or type(encoding).score_bias is Encoding.score_bias:
        return None
    if places.ndim == 1:
        return encoding.score_bias(query, beta, places, keys)

    def one(query: Array, place: Array) -> Array:  # places that need not follow each other
        bias = encoding.score_bias(query[..., None, :], beta, place[None], keys)
        return jnp.zeros(keys) if bias is None else bias[..., 0, :]

    return over_sequences(jax.vmap(one, in_axes=(-2, 0), out_axes=-2), query, places)

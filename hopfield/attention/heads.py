"""Multi-head attention: several reads side by side, keys shared by groups of them, and how much they differ.

The head axis stands before positions: query [*b, H, T, D], and key and value [*b, K, S, ·] where K divides H. Head h
reads with the keys h // (H / K), as in grouped-query attention; K = 1 is multi-query, K = H multi-head attention.
"""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._arguments import instance, real_array, real_rows
from hopfield._numerics import unit, wide
from hopfield.attention import core
from hopfield.attention.mask_views import MaskLike, allowed, sequences
from hopfield.attention.masks import Mask
from hopfield.attention.projections import Projections, project_heads
from hopfield.metrics import Metric, as_metric
from hopfield.separations import Separation
from hopfield.separations.simplex import shannon_entropy


def split_heads(x: Float[Array, "*b T HD"], heads: int) -> Float[Array, "*b H T D"]:
    """Vectors cut into one part per head. Raises ValueError unless `heads` divides their width."""
    x = real_rows("x", x, 2)
    if heads < 1 or x.shape[-1] % heads:
        raise ValueError(f"heads must divide the width {x.shape[-1]}, got {heads}")
    return jnp.swapaxes(x.reshape((*x.shape[:-1], heads, x.shape[-1] // heads)), -2, -3)


def merge_heads(x: Float[Array, "*b H T D"]) -> Float[Array, "*b T HD"]:
    """The parts of all heads side by side again. Raises ValueError unless there are heads."""
    x = jnp.swapaxes(_of_heads("x", x), -2, -3)
    return x.reshape((*x.shape[:-2], x.shape[-2] * x.shape[-1]))


def attend_heads(
    query: Float[Array, "*b H T D"],
    key: Float[Array, "*b K S D"],
    value: Float[Array, "*b K S V"],
    *,
    metric: Metric | ArrayLike | None = None,
    beta: ArrayLike | None = None,
    separation: Separation | str | None = None,
    bias: Float[Array, "*b H T S"] | None = None,
    mask: MaskLike = None,
    temperature: ArrayLike | None = None,
    attention: Callable[..., Array] = core.attend,
) -> Float[Array, "*b H T V"]:
    """Attention of H heads. Groups of heads may share keys and values, which are copied under a metric alone.

    Args:
        metric: one for all heads, or one per head [H, …].
        beta, temperature: a number, or one per head [H].
        separation: handed to `attention` if given.
        bias, mask: with the axes of the scores [*b, H or 1, T, S]. A `Mask` is one of the sequences *b, for all heads.
        attention: `attend`, or a function with its signature such as `attend_blockwise`.
    Raises:
        ValueError: K does not divide H, or a shape that does not fit.
    """
    query, key, value = _of_heads("query", query), _of_heads("key", key), _of_heads("value", value)
    heads, stored = _head_counts(query, key, value)
    rank = max(x.ndim for x in (query, key, value))
    mask = sequences(mask, rank - 3) if isinstance(mask, Mask) else mask
    form = as_metric(metric)
    options = {"beta": beta, "bias": bias, "mask": mask, "separation": separation, "temperature": temperature}
    options = {name: x for name, x in options.items() if x is not None}
    taken = inspect.signature(attention).parameters
    if lacking := options.keys() - taken.keys() if all(x.kind is not x.VAR_KEYWORD for x in taken.values()) else set():
        raise ValueError(f"{min(lacking)} must be None for an attention that does not take it, got one")
    if needed := [n for n, x in taken.items() if x.kind is x.KEYWORD_ONLY and x.default is x.empty]:
        raise ValueError(f"attention must be functools.partial(…, {needed[0]}=…), got one without its {needed[0]}")
    if form is not None and heads != stored:
        key, value = (jnp.repeat(x, heads // stored, axis=-3) for x in (key, value))
    if form is not None or heads == stored:
        return attention(query, key, value, metric=form, **options)
    if not isinstance(mask, Mask | None):
        options["mask"] = allowed(mask, query.shape[-2], key.shape[-2], rank)
    query, options = _in_groups(query, options, heads, stored)
    output = attention(query, key[..., None, :, :], value[..., None, :, :], **options)
    return output.reshape((*output.shape[:-4], heads, *output.shape[-2:]))


def _in_groups(query: Array, options: dict[str, Any], heads: int, groups: int) -> tuple[Array, dict[str, Any]]:
    """The query, β, temperature, bias and mask with the head axis cut in two, [K, G]."""
    grouped, regrouped = partial(_split_head_axis, heads=heads, groups=groups), dict(options)
    if "beta" in options:
        regrouped["beta"] = grouped("beta", core.inverse_temperature(options["beta"], query), axis=-1)
    if "temperature" in options:
        regrouped["temperature"] = grouped("temperature", jnp.asarray(options["temperature"]), axis=-1)
    if "bias" in options:
        regrouped["bias"] = grouped("bias", real_array("bias", options["bias"]))
    if options.get("mask") is not None and not isinstance(options["mask"], Mask):
        regrouped["mask"] = grouped("mask", options["mask"])
    return grouped("query", query), regrouped


def _of_heads(name: str, x: Any) -> Array:
    rows = real_array(name, x)
    if rows.ndim < 3:
        raise ValueError(f"{name} must be [..., heads, length, width], got shape {rows.shape}")
    return rows


def _head_counts(query: Array, key: Array, value: Array) -> tuple[int, int]:
    heads, stored = query.shape[-3], key.shape[-3]
    if stored < 1 or heads % stored:
        raise ValueError(f"key must have a number of heads that divides the query's {heads}, got {stored} (axis -3)")
    if value.shape[-3] != stored:
        raise ValueError(f"value must have the key's {stored} heads, got {value.shape[-3]} (axis -3)")
    return heads, stored


def _split_head_axis(name: str, x: Array, *, heads: int, groups: int, axis: int = -3) -> Array:
    """Array with the head axis split into [K, G], or [1, 1] if its length is 1. A missing axis stays missing."""
    if x.ndim < -axis:
        return x
    if x.shape[axis] not in (1, heads):
        raise ValueError(f"{name} must have length 1 or {heads}, the heads, got {x.shape[axis]} (axis {axis})")
    cut = (1, 1) if x.shape[axis] == 1 else (groups, heads // groups)
    return x.reshape((*x.shape[:axis], *cut, *x.shape[x.ndim + axis + 1 :]))


def multi_head(
    projections: Projections,
    x_query: Float[Array, "*b T N"],
    x_key: Float[Array, "*b S N"] | None = None,
    x_value: Float[Array, "*b S N"] | None = None,
    *,
    metric: Metric | ArrayLike | None = None,
    beta: ArrayLike | None = None,
    separation: Separation | str | None = None,
    bias: Float[Array, "*b H T S"] | None = None,
    mask: MaskLike = None,
    temperature: ArrayLike | None = None,
    attention: Callable[..., Array] = core.attend,
) -> Float[Array, "*b T O"]:
    """Multi-head attention: Σ_h attend(x_query W_Q^h, x_key W_K^h, x_value W_V^h) W_O^h, biases added where given.

    Self-attention with `x_query` alone, cross-attention with `x_key`, from which values come unless `x_value` is given.
    Heads may share keys. Further arguments: as in `attend_heads`.

    Raises:
        ValueError: a projection that does not fit an input, by name.
    Source: Kataru 2026, §7.1; Vaswani et al. 2017, §3.2.2.
    """
    query, key, value = _queries_keys_values(projections, x_query, x_key, x_value)
    options: dict[str, Any] = {"metric": metric, "beta": beta, "bias": bias, "mask": mask, "temperature": temperature}
    outputs = attend_heads(query, key, value, separation=separation, attention=attention, **options)
    return _project_output(projections, outputs)


class HeadParts(NamedTuple):
    """Parts of multi-head attention: projected rows, every intermediate of the heads, and the output [*b, T, O].

    Example:
        >>> from hopfield import attention
        >>> projections = attention.Projections.random(jax.random.key(0), 2, 4)
        >>> attention.multi_head_parts(projections, jnp.ones((3, 4))).heads.weights.shape
        (2, 3, 3)
    """

    query: Float[Array, "*b H T R"]
    key: Float[Array, "*b K S R"]
    value: Float[Array, "*b K S V"]
    heads: core.Decomposition
    """Scores, weights, output, potential and entropy of every head, [*b, H, …]."""
    output: Float[Array, "*b T O"]


def multi_head_parts(
    projections: Projections,
    x_query: Float[Array, "*b T N"],
    x_key: Float[Array, "*b S N"] | None = None,
    x_value: Float[Array, "*b S N"] | None = None,
    *,
    metric: Metric | ArrayLike | None = None,
    beta: ArrayLike | None = None,
    separation: Separation | str = core.SOFTMAX,
    bias: Float[Array, "*b H T S"] | None = None,
    mask: MaskLike = None,
    temperature: ArrayLike | None = None,
) -> HeadParts:
    """Result of `multi_head`, which takes the same arguments, with all its parts. Shared keys are repeated for it."""
    query, key, value = _queries_keys_values(projections, x_query, x_key, x_value)
    heads, stored = _head_counts(query, key, value)
    mask = sequences(mask, query.ndim - 3) if isinstance(mask, Mask) else mask
    every = (jnp.repeat(x, heads // stored, axis=-3) for x in (key, value))
    options: dict[str, Any] = {"metric": metric, "beta": beta, "bias": bias, "mask": mask, "temperature": temperature}
    decomposition = core.decompose(query, *every, separation=separation, **options)
    return HeadParts(query, key, value, decomposition, _project_output(projections, decomposition.output))


def _queries_keys_values(projections: Projections, x_query: Array, x_key: Array | None, x_value: Array | None):
    instance("projections", projections, Projections)
    x_query = real_array("x_query", x_query)
    x_key = x_query if x_key is None else real_array("x_key", x_key)
    x_value = x_key if x_value is None else real_array("x_value", x_value)
    query = project_heads(x_query, projections.query, projections.query_bias, name="query")
    key = project_heads(x_key, projections.key, projections.key_bias, name="key")
    return query, key, project_heads(x_value, projections.value, projections.value_bias, name="value")


def _project_output(projections: Projections, outputs: Array) -> Array:
    """Outputs of all heads [*b, H, T, V] through the output projection."""
    heads, width = outputs.shape[-3::2]
    if projections.output.shape[:2] != (heads, width):
        raise ValueError(f"output projection must be [{heads}, {width}, O], got shape {projections.output.shape}")
    summed = jnp.einsum("...htv,hvo->...to", outputs, projections.output)
    bias = projections.output_bias
    return summed if bias is None else summed + bias.reshape((1,) * (summed.ndim - 1) + bias.shape)


def head_diversity(weights: Float[Array, "*b H T S"]) -> Float[Array, "*b"]:
    """1 − the mean over pairs of heads of the cosine between their patterns of weights [T·S]; 0 if all are the same.

    Raises:
        ValueError: fewer than two heads.
    Source: Kataru 2026, eq. 60.
    """
    weights = _several(weights)
    patterns = unit(weights.reshape((*weights.shape[:-2], -1)))
    total = jnp.sum(jnp.sum(patterns, axis=-2) ** 2, axis=-1) - jnp.sum(patterns**2, axis=(-2, -1))
    return 1.0 - total / (weights.shape[-3] * (weights.shape[-3] - 1))


def head_divergence(weights: Float[Array, "*b H T S"]) -> Float[Array, "*b"]:
    """Jensen–Shannon divergence of the heads in nats, H(mean of heads) − mean of H(head), averaged over queries.

    Between 0 (all heads read alike) and ln H (no two read the same key). A query that may read nothing is left out.

    Raises:
        ValueError: fewer than two heads.
    Source: Lin 1991, eq. 5.1, with equal weights.
    """
    weights = _several(weights)
    reads = ~jnp.all(weights <= 0, axis=(-3, -1))
    gap = shannon_entropy(jnp.mean(weights, axis=-3), axis=-1) - jnp.mean(shannon_entropy(weights, axis=-1), axis=-2)
    return jnp.sum(jnp.where(reads, gap, 0.0), axis=-1) / jnp.maximum(jnp.sum(reads, axis=-1), 1)


def _several(weights: Any) -> Array:
    weights = wide(real_array("weights", weights))
    if weights.ndim < 3 or weights.shape[-3] < 2:
        raise ValueError(f"weights must be those of at least two heads [..., H, T, S], got shape {weights.shape}")
    return weights

"""Attention of a trained transformer as a layer that trains, iterates and reports like any other."""

import jax.numpy as jnp
import numpy as np
from flax import nnx

from hopfield.layers.attention import HopfieldAttention
from hopfield.layers.imports.checkpoints import AttentionWeights


def from_attention_weights(weights: AttentionWeights, **options) -> HopfieldAttention:
    """One layer of a checkpoint as a `HopfieldAttention` that computes the same; missing biases become zeros.

    Rotary positions are not part of the weights: of such a checkpoint this is the layer without them.

    Args:
        weights: a layer of `hopfield.layers.imports.checkpoints.load(...)`.
        options: further arguments of `HopfieldAttention`, such as `separation`, `update_steps` or `beta`.
    Raises:
        ValueError: an option that does not fit.
    """
    heads, inputs, width = weights.w_query.shape
    settings = {"beta": weights.beta, "deterministic": True, "rngs": nnx.Rngs(0)} | options
    outputs = weights.w_output.shape[-1]
    layer = HopfieldAttention(heads, inputs, heads * width, outputs, len(weights.w_key), **settings)
    for name, w, b in (
        ("query", weights.w_query, weights.b_query),
        ("key", weights.w_key, weights.b_key),
        ("value", weights.w_value, weights.b_value),
    ):
        bias = np.zeros((len(w), width)) if b is None else b
        _put(getattr(layer, name), w.transpose(1, 0, 2), bias)
    _put(layer.out, weights.w_output, np.zeros(outputs) if weights.b_output is None else weights.b_output)
    return layer


def _put(linear: nnx.LinearGeneral, kernel: np.ndarray, bias: np.ndarray) -> None:
    dtype = linear.kernel[...].dtype
    nnx.update(linear, {"kernel": jnp.asarray(kernel, dtype), "bias": jnp.asarray(bias, dtype)})

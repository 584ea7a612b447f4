"""Attention of a trained transformer as a layer that trains, iterates and reports like any other."""

import dataclasses

import jax.numpy as jnp
import numpy as np
from flax import nnx
from flax.typing import Dtype

from hopfield._arguments import flag, instance
from hopfield.layers.attention import HopfieldAttention
from hopfield.layers.imports.checkpoints import AttentionWeights
from hopfield.layers.options import DEFAULT, AssociationOptions


def from_attention_weights(
    weights: AttentionWeights,
    options: AssociationOptions = DEFAULT,
    *,
    positions: bool = True,
    decode: bool = False,
    param_dtype: Dtype = jnp.float32,
) -> HopfieldAttention:
    """One layer of a checkpoint as a `HopfieldAttention` that computes the same. Missing biases become zeros.

    Rotary positions come with the layer. Learned ones are those of the model, which adds them to its tokens once:
    `Checkpoint.encoding`.

    Args:
        weights: a layer of `hopfield.layers.imports.checkpoints.load(...)`.
        options: of the association; β and positions are the checkpoint's where they are not given.
        positions: whether queries and keys are turned as in the checkpoint.
        decode, param_dtype: as for `HopfieldAttention`.
    Raises:
        ValueError: an option that does not fit, or rotary positions of a kind that is not known.
    """
    instance("weights", weights, AttentionWeights)
    instance("options", options, AssociationOptions)
    heads, inputs, width = weights.w_query.shape
    beta = weights.beta if options.beta is None else options.beta
    places = weights.rotary() if options.positions is None and flag("positions", positions) else options.positions
    outputs = weights.w_output.shape[-1]
    layer = HopfieldAttention(
        *(heads, inputs, heads * width, outputs, len(weights.w_key)),
        options=dataclasses.replace(options, beta=beta, positions=places),
        deterministic=True,
        decode=decode,
        param_dtype=param_dtype,
        rngs=nnx.Rngs(0),
    )
    for name in ("query", "key", "value"):
        w, b = getattr(weights, f"w_{name}"), getattr(weights, f"b_{name}")
        _set_weights(getattr(layer, name), w.transpose(1, 0, 2), np.zeros((len(w), width)) if b is None else b)
    _set_weights(layer.out, weights.w_output, np.zeros(outputs) if weights.b_output is None else weights.b_output)
    return layer


def _set_weights(linear: nnx.LinearGeneral, kernel: np.ndarray, bias: np.ndarray) -> None:
    dtype = linear.kernel[...].dtype
    nnx.update(linear, {"kernel": jnp.asarray(kernel, dtype), "bias": jnp.asarray(bias, dtype)})

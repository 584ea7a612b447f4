"""Attention of a trained transformer as a layer that trains, iterates and reports like any other."""

import dataclasses

import jax.numpy as jnp
import numpy as np
from flax import nnx
from flax.typing import Dtype

from hopfield._arguments import flag, instance
from hopfield.attention import SoftCap
from hopfield.layers.attention import HopfieldAttention
from hopfield.layers.imports.checkpoints import AttentionWeights
from hopfield.layers.options import DEFAULT, AssociationOptions
from hopfield.separations import LogSumExp, as_separation


def from_attention_weights(
    weights: AttentionWeights,
    options: AssociationOptions = DEFAULT,
    *,
    positions: bool = True,
    decode: bool = False,
    param_dtype: Dtype = jnp.float32,
) -> HopfieldAttention:
    """One layer of a checkpoint as a `HopfieldAttention` that computes the same. Missing biases become zeros.

    Positions that turn or are added to scores come with the layer. Those that are added to tokens are the model's,
    which does so once: `Checkpoint.encoding`.

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
    read = weights.reading
    given = {"window": read.window, "score": None if read.cap is None else SoftCap(read.cap)}
    given = {name: value for name, value in given.items() if getattr(options, name) is None}
    if read.sinks is not None:
        if not isinstance(as_separation(options.separation), LogSumExp):
            raise ValueError(f"separation must be softmax for a checkpoint with sinks, got {options.separation}")
        given |= {"separation": "softmax1", "learn_null_score": True}
    own = weights.rotary() or weights.distances if flag("positions", positions) else None
    places = own if options.positions is None else options.positions
    outputs = weights.w_output.shape[-1]
    layer = HopfieldAttention(
        *(heads, inputs, heads * width, outputs, len(weights.w_key)),
        options=dataclasses.replace(options, beta=beta, positions=places, **given),
        deterministic=True,
        decode=decode,
        param_dtype=param_dtype,
        rngs=nnx.Rngs(0),
    )
    for name in ("query", "key", "value"):
        w, b = getattr(weights, f"w_{name}"), getattr(weights, f"b_{name}")
        _set_weights(getattr(layer, name), w.transpose(1, 0, 2), np.zeros((len(w), width)) if b is None else b)
    _set_weights(layer.out, weights.w_output, np.zeros(outputs) if weights.b_output is None else weights.b_output)
    if read.sinks is not None and layer.attention_fn.null_score is not None:
        layer.attention_fn.null_score[...] = jnp.asarray(read.sinks, param_dtype)
    for name, scale in (("query_ln", read.query_norm), ("key_ln", read.key_norm)):
        setattr(layer, name, _norm(scale, width, read.epsilon, param_dtype))
    return layer


def _norm(scale: np.ndarray | None, width: int, epsilon: float, param_dtype: Dtype) -> nnx.Module | None:
    """RMS norm of each head [R] or of all heads together [H R], or layer norm of each head with a scale of its own."""
    if scale is None:
        return None
    together = (-2, -1) if scale.size > width else -1
    how = {"epsilon": epsilon, "feature_axes": together, "param_dtype": param_dtype, "rngs": nnx.Rngs(0)}
    if scale.ndim > 1:
        norm = nnx.LayerNorm(scale.size, reduction_axes=-1, use_bias=False, use_fast_variance=False, **how)
    else:
        norm = nnx.RMSNorm(scale.size, reduction_axes=together, **how)
    nnx.update(norm, {"scale": jnp.asarray(scale.ravel(), param_dtype)})
    return norm


def _set_weights(linear: nnx.LinearGeneral, kernel: np.ndarray, bias: np.ndarray) -> None:
    dtype = linear.kernel[...].dtype
    nnx.update(linear, {"kernel": jnp.asarray(kernel, dtype), "bias": jnp.asarray(bias, dtype)})

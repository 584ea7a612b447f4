"""Weights of hopfield-layers (PyTorch), taken exactly into a layer of this library.

hopfield-layers counts update steps from zero, `update_steps_max=0` being one application of softmax, and keeps neither
scaling nor steps nor number of heads in its state: they are arguments here.
"""

import math
from collections.abc import Collection, Mapping
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax.typing import ArrayLike

from hopfield._arguments import flag, instance
from hopfield.layers.attention import HopfieldAttention
from hopfield.layers.options import AssociationOptions
from hopfield.layers.pooling import EPSILON, Hopfield, HopfieldLayer, HopfieldPooling

CORE = "association_core."
IGNORED = ("bias_k", "bias_v")
"""Parameters that the published forward pass never uses."""
NORMS = {"state": "norm_state_pattern", "stored": "norm_stored_pattern", "projection": "norm_pattern_projection"}


class _Core(NamedTuple):
    """Projections of an association in our layout: kernels [E, H, W], biases [H, W], out [H, W, O] and [O]."""

    query: tuple[np.ndarray, np.ndarray]
    key: tuple[np.ndarray, np.ndarray]
    value: tuple[np.ndarray, np.ndarray]
    out: tuple[np.ndarray, np.ndarray]
    width: int

    @property
    def hidden(self) -> int:
        """Width of a head's queries."""
        return self.query[0].shape[-1]


def from_hopfield_layers(
    state: Mapping[str, ArrayLike],
    num_heads: int,
    *,
    scaling: ArrayLike | None = None,
    update_steps_max: int = 0,
    plain_norms: Collection[str] = (),
    normalize_hopfield_space: bool = False,
    connected: bool = False,
    add_zero_association: bool = False,
    dropout: float = 0.0,
) -> Hopfield | HopfieldPooling | HopfieldLayer:
    """A layer of hopfield-layers, from its `state_dict()` as numpy arrays: the module that its keys belong to.

    A `pattern_size` other than the hidden size becomes features that are padded with zeros. Queries stop one by one
    when they stand still to rounding, where hopfield-layers stops whole heads of a batch at `update_steps_eps`.

    Args:
        state: parameters by name.
        num_heads: of the association.
        scaling: β, 1/√(hidden size) if None.
        update_steps_max: updates before the last association, which is always made.
        plain_norms: of "state", "stored" and "projection" those with a layer norm without weights.
        normalize_hopfield_space: queries and keys are normalised in each head; implied by its weights.
        connected: `pattern_projection_as_connected` was set.
        add_zero_association: as there.
        dropout: rate of the weights' dropout, active where the layer is called with deterministic=False.
    Raises:
        ValueError: an unknown name in the state, or a setting that no layer here computes.
    Source: hopfield-layers 1.0.2, hflayers/functional.py, `hopfield_core_forward`.
    """
    arrays = {
        name.removeprefix("hopfield."): np.asarray(array) for name, array in instance("state", state, Mapping).items()
    }
    core = {name.removeprefix(CORE): arrays.pop(name) for name in list(arrays) if name.startswith(CORE)}
    projections = _core(core, num_heads, flag("connected", connected))
    beta, steps = 1.0 / math.sqrt(projections.hidden) if scaling is None else scaling, update_steps_max + 1
    slots = int(flag("add_zero_association", add_zero_association))
    options = AssociationOptions(beta=beta, update_steps=steps, memory_slots=slots)
    space = flag("normalize_hopfield_space", normalize_hopfield_space) or "p_norm_weight" in core
    attention = _attention(projections, num_heads, options, dropout, space)
    if space:
        attention.query_ln, attention.key_ln = (_norm(core, "p_norm_", "p_norm_", projections.hidden) for _ in range(2))
    return _layer_around(arrays, attention, plain_norms)


def _attention(core: _Core, heads: int, options: AssociationOptions, dropout: float, space: bool) -> HopfieldAttention:
    """Association with its projections. `space` says whether queries and keys are normalised in each head."""
    if space and core.hidden != core.width:
        limit = f"at most the hidden size {core.hidden} to normalise it"
        raise ValueError(f"pattern_size must be {limit}, got {core.width}")
    attention = HopfieldAttention(
        heads,
        core.query[0].shape[0],
        heads * core.width,
        core.out[0].shape[-1],
        in_kv_features=core.key[0].shape[0],
        options=options,
        dropout_rate=dropout,
        deterministic=True,
        normalize_qk=space,
        rngs=nnx.Rngs(0),
    )
    _fill(attention, core)
    return attention


def _core(core: dict[str, np.ndarray], heads: int, connected: bool) -> _Core:
    known = ["in_proj_weight", "in_proj_bias", "q_proj_weight", "k_proj_weight", "v_proj_weight"]
    known += ["out_proj.weight", "out_proj.bias", "p_norm_weight", "p_norm_bias", *IGNORED]
    strange = [name for name in core if name not in known]
    if strange:
        raise ValueError(f"state must be a state_dict of hopfield-layers, got the unknown name {CORE}{strange[0]}")
    query, key, value = _projections(core)
    for name, rows in (("query", query), ("key", key), ("value", value)):
        if len(rows) % heads:
            raise ValueError(f"num_heads must divide the {len(rows)} rows of the {name} projection, got {heads}")
    sizes = [len(query), len(key), len(value)]
    bias = core.get("in_proj_bias", np.zeros(sum(sizes), query.dtype))
    if len(bias) != sum(sizes):
        raise ValueError(f"in_proj_bias must have {sum(sizes)} entries, got {len(bias)}")
    b_query, b_key, b_value = np.split(bias, np.cumsum(sizes)[:-1])
    if connected:  # v = W_v (W_k x + b_k) + b_v
        value, b_value = value @ key, value @ b_key + b_value
    width = max(sizes) // heads
    out = core.get("out_proj.weight", np.eye(sizes[2], dtype=query.dtype))
    b_out = core.get("out_proj.bias", np.zeros(len(out), out.dtype))
    out = _pad_width(out.reshape(len(out), heads, -1), width).transpose(1, 2, 0)
    return _Core(
        (_by_head(query, heads), b_query.reshape(heads, -1)),
        (_by_head(key, heads), b_key.reshape(heads, -1)),
        (_by_head(value, heads), b_value.reshape(heads, -1)),
        (out, b_out),
        width,
    )


def _projections(core: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of the query, key and value projections [H · width, inputs]."""
    if "in_proj_weight" in core:
        joint = core["in_proj_weight"]
        out = core.get("out_proj.weight")
        if len(joint) % 3 or (out is not None and out.shape[1] != len(joint) // 3):
            raise ValueError(f"state must have three projections (nothing static), got in_proj_weight {joint.shape}")
        query, key, value = np.split(joint, 3)
        return query, key, value
    missing = [name for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight") if name not in core]
    if missing:
        raise ValueError(f"state must have three projections (nothing static), got no {CORE}{missing[0]}")
    return core["q_proj_weight"], core["k_proj_weight"], core["v_proj_weight"]


def _by_head(rows: np.ndarray, heads: int) -> np.ndarray:
    """Rows [H · D, E] of a PyTorch projection as a kernel [E, H, D]."""
    return rows.T.reshape(rows.shape[1], heads, -1)


def _pad_width(array: np.ndarray, width: int) -> np.ndarray:
    return np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, width - array.shape[-1])])


def _fill(attention: HopfieldAttention, core: _Core) -> None:
    width = core.value[0].shape[0]
    if width != attention.in_kv_features:
        heads = (attention.num_heads, attention.head_dim)
        attention.value = nnx.LinearGeneral(width, heads, rngs=nnx.Rngs(0))
    for name in ("query", "key", "value"):
        kernel, bias = getattr(core, name)
        _set_weights(getattr(attention, name), _pad_width(kernel, core.width), _pad_width(bias, core.width))
    _set_weights(attention.out, *core.out)


def _set_weights(linear: nnx.LinearGeneral, kernel: np.ndarray, bias: np.ndarray) -> None:
    """Set the weights of a projection that has a bias."""
    nnx.update(linear, {"kernel": jnp.asarray(kernel, jnp.float32), "bias": jnp.asarray(bias, jnp.float32)})


def _norm(arrays: dict[str, np.ndarray], weight: str, bias: str, width: int) -> nnx.LayerNorm:
    """Layer norm of these weights, without scale and bias if they are missing."""
    affine = f"{weight}weight" in arrays
    norm = nnx.LayerNorm(
        width, epsilon=EPSILON, use_bias=affine, use_scale=affine, use_fast_variance=False, rngs=nnx.Rngs(0)
    )
    if norm.scale is not None and norm.bias is not None:
        norm.scale[...] = jnp.asarray(arrays[f"{weight}weight"], norm.scale.dtype)
        norm.bias[...] = jnp.asarray(arrays[f"{bias}bias"], norm.bias.dtype)
    return norm


def _layer_around(
    arrays: dict[str, np.ndarray], attention: HopfieldAttention, plain_norms: Collection[str]
) -> Hopfield | HopfieldPooling | HopfieldLayer:
    """The module around the association, with its norms and learned patterns."""
    unknown = [name for name in plain_norms if name not in NORMS]
    if unknown:
        raise ValueError(f"plain_norms must be among {', '.join(NORMS)}, got {unknown[0]!r}")
    patterns = {name: arrays.pop(name, None) for name in ("pooling_weights", "lookup_weights", "target_weights")}
    rngs = nnx.Rngs(0)
    if patterns["pooling_weights"] is not None:
        queries = patterns["pooling_weights"].reshape(-1, attention.in_features)
        module = HopfieldPooling(attention, len(queries), rngs=rngs)
        module.queries[...] = jnp.asarray(queries, attention.param_dtype)
    elif patterns["lookup_weights"] is not None:
        stored = patterns["lookup_weights"].reshape(-1, attention.in_kv_features)
        targets = patterns["target_weights"]
        module = HopfieldLayer(attention, len(stored), separate_targets=targets is not None, rngs=rngs)
        module.patterns[...] = jnp.asarray(stored, attention.param_dtype)
        if module.targets is not None and targets is not None:
            module.targets[...] = jnp.asarray(targets.reshape(module.targets.shape), attention.param_dtype)
    else:
        module = Hopfield(attention, rngs=rngs)
    inner = module if isinstance(module, Hopfield) else module.hopfield
    widths = (attention.in_features, attention.in_kv_features, attention.value_features)
    norms = []
    for (kind, name), width in zip(NORMS.items(), widths, strict=True):
        there = kind in plain_norms or f"{name}.weight" in arrays
        norms.append(nnx.data(_norm(arrays, f"{name}.", f"{name}.", width) if there else None))
        for part in ("weight", "bias"):
            arrays.pop(f"{name}.{part}", None)
    inner.query_norm, inner.stored_norm, inner.projection_norm = norms
    if arrays:
        raise ValueError(f"state must be a state_dict of hopfield-layers, got the unknown name {next(iter(arrays))}")
    return module

"""Weights of `flax.nnx.MultiHeadAttention`, taken into a `HopfieldAttention`."""

from flax import nnx

from hopfield._arguments import instance, shown
from hopfield.layers.association import HopfieldAssociation
from hopfield.layers.attention import HopfieldAttention


def from_flax(source: nnx.MultiHeadAttention, layer: HopfieldAttention | None = None) -> HopfieldAttention:
    """The weights of a Flax layer in a Hopfield layer.

    Args:
        source: layer whose weights are taken.
        layer: where they go, with its own metric, separation, β and steps; None makes one that computes the same, with
            the association of a source that has one.
    Raises:
        ValueError: the layers differ in a width, in heads, biases or norms; no layer for a source with an
            `attention_fn` of another kind.
        TypeError: the source is no `nnx.MultiHeadAttention`.
    """
    instance("source", source, nnx.MultiHeadAttention)
    if layer is None:
        association = source.attention_fn
        known = association is nnx.dot_product_attention or isinstance(association, HopfieldAssociation)
        if not known:
            got = f"got {shown(association)}: give a layer"
            raise ValueError(f"source must associate as nnx.dot_product_attention or HopfieldAssociation, {got}")
        layer = HopfieldAttention(
            source.num_heads,
            source.in_features,
            source.qkv_features,
            source.out_features,
            source.num_kv_heads,
            source.in_kv_features,
            dtype=source.dtype,
            param_dtype=source.param_dtype,
            broadcast_dropout=source.broadcast_dropout,
            dropout_rate=source.dropout_rate,
            deterministic=source.deterministic,
            precision=source.precision,
            use_bias=source.use_bias,
            decode=source.decode,
            normalize_qk=source.normalize_qk,
            rngs=nnx.Rngs(0),
        )
        if isinstance(association, HopfieldAssociation):
            layer.attention_fn = nnx.clone(association)
    for name in ("query", "key", "value", "out", "query_ln", "key_ln"):
        ours, theirs = getattr(layer, name), getattr(source, name)
        shapes = [_shapes(part) for part in (ours, theirs)]
        if shapes[0] != shapes[1]:
            raise ValueError(f"layer must have the source's {name} weights {shapes[1]}, got {shapes[0]}")
        if ours is not None:
            nnx.update(ours, nnx.state(theirs))
    return layer


def _shapes(part: nnx.Module | None) -> dict[str, tuple[int, ...]]:
    if part is None:
        return {}
    return {"/".join(map(str, path)): leaf.shape for path, leaf in nnx.to_flat_state(nnx.state(part, nnx.Param))}

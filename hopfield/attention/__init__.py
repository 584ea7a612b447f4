"""Attention as functions over arbitrary batch and head axes, for any separation and metric.

Query [*b, T, D], key [*b, S, D] and value [*b, S, V] give a read-out [*b, T, V]. What is exported, by kind:

    reads          attend, read, decompose, Decomposition; kernel_regression, whose weights are a kernel of distances
    scores         scores, additive_scores; SoftCap, a function of scores
    weights        weights, log_weights, softmax
    masks          Mask, causal, padding, key_padding, prefix, sliding_window, strided, block, global_local, everything,
                   random_blocks, causal_last, segments; as numbers and as text mask_bias, mask_text
    positions      sinusoidal, rotary, relative_bias, t5_bias, t5_buckets, alibi_bias, alibi_slopes; as objects in
                   `attention.encodings`
    heads          attend_heads, multi_head, multi_head_parts, HeadParts, split_heads, merge_heads, project_heads,
                   Projections, head_diversity, head_divergence
    blocks         attend_blockwise, in memory linear in length; attend_ring, over devices, a Ring; with fewer keys
                   attend_locally, attend_low_rank, attend_truncated
    linear         linear_attention, FastWeights; FeatureMap: EluPlusOne, RandomFourier, PositiveFeatures
    gradients      attention_gradients, Gradients, by hand; verify_gradients, Agreement, which hold them to JAX's;
                   softmax_jacobian, softmax_jacobian_product, sparse_jacobian, sparse_jacobian_product
"""

from hopfield._arguments import public
from hopfield.attention._softmax import softmax
from hopfield.attention.blockwise import attend_blockwise
from hopfield.attention.core import (
    Decomposition,
    attend,
    decompose,
    read,
    scores,
    weights,
)
from hopfield.attention.fast_weights import FastWeights
from hopfield.attention.fewer_keys import attend_locally, attend_low_rank, attend_truncated
from hopfield.attention.gradients import Gradients, attention_gradients
from hopfield.attention.heads import (
    HeadParts,
    attend_heads,
    head_divergence,
    head_diversity,
    merge_heads,
    multi_head,
    multi_head_parts,
    split_heads,
)
from hopfield.attention.kernels import additive_scores, kernel_regression
from hopfield.attention.linear import (
    EluPlusOne,
    FeatureMap,
    PositiveFeatures,
    RandomFourier,
    linear_attention,
)
from hopfield.attention.logarithms import log_weights
from hopfield.attention.mask_views import mask_bias, mask_text, random_blocks
from hopfield.attention.masks import (
    Mask,
    block,
    causal,
    everything,
    global_local,
    key_padding,
    padding,
    prefix,
    sliding_window,
    strided,
)
from hopfield.attention.positions import (
    alibi_bias,
    alibi_slopes,
    relative_bias,
    rotary,
    sinusoidal,
    t5_bias,
    t5_buckets,
)
from hopfield.attention.projections import Projections, project_heads
from hopfield.attention.ring import Ring, attend_ring
from hopfield.attention.score_functions import SoftCap
from hopfield.attention.sequence_masks import causal_last, segments
from hopfield.attention.verification import Agreement, verify_gradients
from hopfield.separations.jacobians import (
    softmax_jacobian,
    softmax_jacobian_product,
    sparse_jacobian,
    sparse_jacobian_product,
)

__all__ = [
    "Agreement",
    "Decomposition",
    "EluPlusOne",
    "FastWeights",
    "FeatureMap",
    "Gradients",
    "HeadParts",
    "Mask",
    "PositiveFeatures",
    "Projections",
    "RandomFourier",
    "Ring",
    "SoftCap",
    "additive_scores",
    "alibi_bias",
    "alibi_slopes",
    "attend",
    "attend_blockwise",
    "attend_heads",
    "attend_locally",
    "attend_low_rank",
    "attend_ring",
    "attend_truncated",
    "attention_gradients",
    "block",
    "causal",
    "causal_last",
    "decompose",
    "everything",
    "global_local",
    "head_divergence",
    "head_diversity",
    "kernel_regression",
    "key_padding",
    "linear_attention",
    "log_weights",
    "mask_bias",
    "mask_text",
    "merge_heads",
    "multi_head",
    "multi_head_parts",
    "padding",
    "prefix",
    "project_heads",
    "random_blocks",
    "read",
    "relative_bias",
    "rotary",
    "scores",
    "segments",
    "sinusoidal",
    "sliding_window",
    "softmax",
    "softmax_jacobian",
    "softmax_jacobian_product",
    "sparse_jacobian",
    "sparse_jacobian_product",
    "split_heads",
    "strided",
    "t5_bias",
    "t5_buckets",
    "verify_gradients",
    "weights",
]
__dir__ = public(__all__)

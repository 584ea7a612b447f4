"""How the public functions of attention, layers and optimisers are called, beside the functions of their parts.

Every case draws its arrays anew; NaN enters each of them unless the case says where.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from hopfield import attention, layers, optim, separations
from tests.hopfield.contracts.public import ROWS, Call, Case, by_reason
from tests.hopfield.contracts.public_curvature import BILINEAR, CURVATURE
from tests.hopfield.contracts.public_draws import any_nan, case, definite, normal, positive, simplex, symmetric, unit
from tests.hopfield.contracts.public_geometry import GEOMETRY

QKV = (normal(2, 3, 4), normal(2, 5, 4), normal(2, 5, 2))
CAUSAL = (normal(2, 5, 4), normal(2, 5, 4), normal(2, 5, 2))
MESH = jax.make_mesh((1,), ("sequence",), axis_types=(jax.sharding.AxisType.Auto,))
HEADS = (normal(2, 4, 3, 4), normal(2, 2, 5, 4), normal(2, 2, 5, 2))
FEATURES = attention.PositiveFeatures(jax.random.key(0), 4, 6)
FOURIER = attention.RandomFourier(jax.random.key(0), 4, 6)
PROBABILITIES = simplex(2, 3, 5)
FAST = attention.FastWeights(4, 2, "delta")
LEAST_SQUARES = attention.FastWeights(4, 2, "pseudo_inverse")


def _multi_head(query, key, value, output, x):
    return attention.multi_head(attention.Projections(query, key, value, output), x)


def _multi_head_parts(query, key, value, output, x):
    return attention.multi_head_parts(attention.Projections(query, key, value, output), x)


def _row_case(name: str, function: Callable, **options: Any) -> Case:
    """A function of rows of scores, at the shapes at which maxima drop NaN."""

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> Call:
        return Call(function, (rng.normal(size=shape).astype(np.float32),), options)

    return Case(f"hopfield.{name}", draw, nan=(0,), shapes=ROWS)


ATTENTION = (
    _row_case("attention.softmax", attention.softmax),
    _row_case("attention.SoftCap.__call__", attention.SoftCap(2.0)),
    _row_case("attention.weights", attention.weights),
    _row_case("attention.weights", attention.weights, temperature=2.0),
    _row_case("attention.weights", attention.weights, separation=separations.Sparsemax()),
    _row_case("attention.weights", attention.weights, separation=separations.Entmax(1.5)),
    _row_case("attention.log_weights", attention.log_weights),
    _row_case("attention.log_weights", attention.log_weights, separation="sparsemax"),
    case("attention.attend", attention.attend, *QKV),
    case("attention.attend", attention.attend, *QKV, mask=attention.padding(4), nan=(0,)),
    case("attention.attend", attention.attend, *QKV, separation=separations.Entmax(1.5), shows=any_nan),
    case("attention.attend", attention.attend, *QKV, temperature=2.0),
    case("attention.decompose", attention.decompose, *QKV, nan=(0, 1)),
    case("attention.decompose", attention.decompose, *QKV, nan=(2,), shows=any_nan),
    case("attention.scores", attention.scores, *QKV[:2]),
    case("attention.read", attention.read, PROBABILITIES, normal(2, 5, 4)),
    case("attention.attend_blockwise", attention.attend_blockwise, *CAUSAL, blocks=(2, 3), mask=attention.causal()),
    case("attention.attend_blockwise", attention.attend_blockwise, *QKV, nan=(0, 1), return_potential=True),
    case("attention.attend_blockwise", attention.attend_blockwise, *CAUSAL, blocks=(2, 3), temperature=2.0),
    case("attention.attend_heads", attention.attend_heads, *HEADS),
    case("attention.attend_heads", attention.attend_heads, *HEADS, temperature=2.0),
    case(
        "attention.project_heads",
        attention.project_heads,
        normal(2, 5, 4),
        normal(3, 4, 2),
        normal(3, 2),
        shows=any_nan,
    ),
    case(
        "attention.multi_head_parts",
        _multi_head_parts,
        *[normal(2, 4, 3)] * 3,
        normal(2, 3, 4),
        normal(2, 5, 4),
        shows=any_nan,
    ),
    case("attention.multi_head", _multi_head, *[normal(2, 4, 3)] * 3, normal(2, 3, 4), normal(2, 5, 4)),
    case("attention.attend_locally", attention.attend_locally, *CAUSAL, left=1),
    case("attention.attend_locally", attention.attend_locally, *CAUSAL, left=1, temperature=2.0),
    case("attention.attend_ring", attention.attend_ring, *CAUSAL, attention.Ring(MESH), mask=attention.causal()),
    case("attention.attend_low_rank", attention.attend_low_rank, *QKV, normal(2, 5)),
    case("attention.attend_truncated", attention.attend_truncated, *QKV, rank=2),
    case("attention.linear_attention", attention.linear_attention, *QKV),
    case("attention.linear_attention", attention.linear_attention, *QKV, features=FEATURES),
    case("attention.linear_attention", attention.linear_attention, *CAUSAL, causal=True, chunk=2),
    case("attention.FastWeights", attention.FastWeights, 4, 2, nan=()),
    case("attention.FastWeights.capacity", attention.FastWeights(4, 3).capacity, nan=()),
    case("attention.FastWeights.read", FAST.read, normal(4)),
    case("attention.FastWeights.write", FAST.write, normal(4), normal(2)),
    case("attention.FastWeights.forget", FAST.forget, normal(4)),
    case("attention.FastWeights.attend", FAST.attend, normal(5, 4), normal(5, 4), normal(5, 2), chunk=2, nan=(1, 2)),
    case("attention.FastWeights.attend", LEAST_SQUARES.attend, *[normal(5, 4)] * 2, normal(5, 2), shows=any_nan),
    case("attention.kernel_regression", attention.kernel_regression, *QKV),
    case("attention.additive_scores", attention.additive_scores, *QKV[:2], normal(4, 3), normal(4, 3), normal(3)),
    case("attention.attention_gradients", attention.attention_gradients, *QKV, normal(2, 3, 2), shows=any_nan),
    case("attention.verify_gradients", attention.verify_gradients, *QKV, nan=()),
    case("attention.softmax_jacobian", attention.softmax_jacobian, PROBABILITIES),
    case("attention.softmax_jacobian_product", attention.softmax_jacobian_product, PROBABILITIES, normal(2, 3, 5)),
    case("attention.sparse_jacobian", attention.sparse_jacobian, PROBABILITIES, 1.5),
    *(
        case("attention.sparse_jacobian_product", attention.sparse_jacobian_product, PROBABILITIES, normal(2, 3, 5), a)
        for a in (1.5, 2.0)
    ),
    case("attention.head_divergence", attention.head_divergence, simplex(2, 3, 5)),
    case("attention.head_diversity", attention.head_diversity, simplex(2, 3, 5)),
    case("attention.split_heads", attention.split_heads, normal(2, 3, 4), 2),
    case("attention.merge_heads", attention.merge_heads, normal(2, 2, 3, 4)),
    case("attention.rotary", attention.rotary, normal(2, 3, 4)),
    case("attention.sinusoidal", attention.sinusoidal, normal(3), 4),
    case("attention.relative_bias", attention.relative_bias, normal(3, 4), normal(5, 4), 6, nan=(0,)),
    case("attention.alibi_bias", attention.alibi_bias, positive(2), 3, 5),
    # Of the buckets of either direction one, of the distance zero, is in use for one direction only.
    case("attention.t5_bias", attention.t5_bias, normal(8, 2), 30, 30, max_distance=12, nan=()),
    *(
        case(f"attention.{type(features).__name__}.{method}", getattr(features, method), normal(2, 5, 4))
        for features in (FEATURES, FOURIER, attention.EluPlusOne())
        for method in ("__call__", "of_keys", "of_queries")
    ),
    *(
        case(f"attention.{type(features).__name__}.split", lambda x, of=features: of.split(x)[0], normal(2, 5, 4))
        for features in (FEATURES, FOURIER, attention.EluPlusOne())
    ),
)

X = normal(2, 5, 8)
STORED = X, normal(2, 5, 8)


def _attention(**options) -> layers.HopfieldAttention:
    return layers.HopfieldAttention(2, 8, options=layers.AssociationOptions(**options), rngs=nnx.Rngs(0))


def _on_heads(method: str) -> Callable:
    associate = layers.HopfieldAssociation(2, 4)
    return lambda *x: getattr(associate, method)(*map(jnp.asarray, x))


MODULES = {
    "HopfieldAttention": _attention(positions="rotary"),
    "Hopfield": layers.Hopfield(_attention(update_steps=3, metric="diagonal"), rngs=nnx.Rngs(0)),
    "HopfieldLayer": layers.HopfieldLayer(_attention(separation="sparsemax"), 3, rngs=nnx.Rngs(0)),
    "HopfieldPooling": layers.HopfieldPooling(_attention(update_steps=2, gradient="implicit"), rngs=nnx.Rngs(0)),
    "EncoderBlock": layers.EncoderBlock(_attention(), rngs=nnx.Rngs(0)),
    "EnergyTransformerBlock": layers.EnergyTransformerBlock(8, 2, 6, steps=2, rngs=nnx.Rngs(0)),
}
_additive = layers.AdditiveAssociation(2, 4, rngs=nnx.Rngs(0))
BY_HEAD = (normal(2, 5, 2, 4), normal(2, 3, 2, 4), normal(2, 3, 2, 4))
POSITIONS = (
    layers.T5Positions(2),
    layers.RelativePositions(4, 2),
    layers.AbsolutePositions(3, 4, rngs=nnx.Rngs(0)),
)
DECODER = layers.DecoderBlock(_attention(), _attention(), rngs=nnx.Rngs(0))
LAYERS = (
    *(case(f"layers.{name}.__call__", module, X) for name, module in MODULES.items()),
    *(case(f"layers.{name}.inspect", module.inspect, X) for name, module in MODULES.items()),
    case("layers.HopfieldAttention.energy", MODULES["HopfieldAttention"].energy, X),
    case("layers.HopfieldAttention.project_queries", MODULES["HopfieldAttention"].project_queries, X),
    case(
        "layers.HopfieldAttention.project_stored", MODULES["HopfieldAttention"].project_stored, *STORED, shows=any_nan
    ),
    case("layers.EnergyTransformerBlock.energy", MODULES["EnergyTransformerBlock"].energy, X),
    case("layers.RecurrentMemory.__call__", layers.RecurrentMemory(2, 8, rngs=nnx.Rngs(0)), X),
    case("layers.DecoderBlock.__call__", DECODER, X, normal(2, 3, 8)),
    case("layers.HopfieldAssociation.__call__", _on_heads("__call__"), *BY_HEAD),
    case("layers.HopfieldAssociation.inspect", _on_heads("inspect"), *BY_HEAD[:2]),
    case("layers.AdditiveAssociation.__call__", _additive, *BY_HEAD, nan=(0, 1)),
    case("layers.AdditiveAssociation.weights", _additive.weights, *BY_HEAD[:2]),
    *(case(f"layers.{type(places).__name__}.__call__", places) for places in POSITIONS),
    *(
        case(f"layers.{type(metric).__name__}.__call__", metric)
        for metric in (layers.learned_metric(kind, 4, 2, rngs=nnx.Rngs(0)) for kind in layers.METRICS)
    ),
)

MANIFOLDS = {
    "Oblique": (optim.Oblique(), unit(3, 4)),
    "Stiefel": (optim.Stiefel(), lambda rng: np.linalg.qr(rng.normal(size=(4, 3)))[0]),
    "PositiveDefinite": (optim.PositiveDefinite(), definite(3)),
}


def _manifold_cases(name: str) -> list[Case]:
    manifold, point = MANIFOLDS[name]
    vector = {"Oblique": normal(3, 4), "Stiefel": normal(4, 3)}.get(name, symmetric(3))
    arguments = {"gradient": (point, vector), "project": (point, vector), "retract": (point, vector)}
    arguments |= {"transport": (point, vector, vector), "violation": (point,)}
    # A vector is carried to where the step ends, by projection: the point itself may have no part in it.
    return [
        case(f"optim.{name}.{method}", getattr(manifold, method), *draws, nan=(len(draws) - 1,) if draws[1:] else ())
        for method, draws in arguments.items()
    ]


def _updated(transform) -> Callable:
    """One update of a transform of plain gradients."""

    def function(params, gradient):
        params, gradient = {"w": jnp.asarray(params)}, {"w": jnp.asarray(gradient)}
        return transform.update(gradient, transform.init(params), params)[0]

    return function


OPTIM = (
    *(one for name in MANIFOLDS for one in _manifold_cases(name)),
    case(
        "optim.riemannian_gradient_descent",
        _updated(optim.riemannian_gradient_descent(0.1, optim.Oblique())),
        unit(3, 4),
        normal(3, 4),
        nan=(1,),
    ),
)

CASES: tuple[Case, ...] = (*ATTENTION, *BILINEAR, *CURVATURE, *GEOMETRY, *LAYERS, *OPTIM)

EXCLUDED = by_reason(
    {
        "a mask or a map of whole numbers and truth values": (
            "attention.Mask.* attention.block attention.causal attention.causal_last attention.everything "
            "attention.global_local attention.key_padding attention.padding attention.prefix "
            "attention.segments attention.sliding_window attention.strided"
        ),
        "makes an object that other cases use": (
            "attention.PositiveFeatures attention.RandomFourier metrics.Euclidean metrics.Scaled "
            "fisher.as_likelihood fisher.Gaussian layers.learned_metric layers.from_* "
            "layers.FixedMetric.__call__ layers.FixedPositions.__call__ layers.AssociationOptions.* "
            "geometry.manifolds.pullback_metric"
        ),
        "abstract": (
            "attention.FeatureMap.* metrics.Metric.* fisher.Likelihood.* layers.AttentionFunction.* "
            "layers.LearnedMetric.* layers.Positions.* optim.Manifold.*"
        ),
        "a map of whole numbers": "attention.t5_buckets",
        "of a whole number": "attention.alibi_slopes",
        "reads files": "layers.imports.checkpoints.*",
        "reads names": "layers.imports.variants.*",
        "what calls of these do once their arguments are checked": "layers.*Association.read_heads",
        "builds a layer from checked options": "layers.PeerOptions.*",
        "makes an empty cache": "layers.*.init_cache",
        "keeps what calls then read": "layers.HopfieldLayer.hold",
        "draws weights of checked shapes": "attention.Projections.random",
        "of masks, which hold no numbers": "attention.mask_*",
        "draws blocks of checked sizes": "attention.random_blocks",
        "tells a shape": "fisher.*.shape",
        "makes a function for loops inside compiled ones": "fisher.Fisher.linearised",
        "loops over a function that is made within compiled ones": "geometry.geodesics.*",
        "keeps a point as it is, and is called through every manifold": "geometry._points.*",
        "tells where its callers may go on": "geometry._smooth.*",
        "needs a model: tests of all optimisers call it": (
            "optim.*natural_gradient optim.NaturalOptimiser.* optim.diagonal_fisher"
        ),
    }
)
"""Patterns of public names without a case, and why."""

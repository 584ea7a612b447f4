"""Geometry: curved spaces, Fisher–Rao families, the metric of attention, subspaces and forms of attention heads.

By module:

    manifolds       curved spaces given by a metric field: connection, geodesics, transport, curvature
    sphere          the unit sphere, in closed form
    spd             symmetric positive definite matrices with the affine-invariant metric
    families        Fisher–Rao geometry of families of distributions, a file each
    induced         the metric that attention induces on queries
    subspaces       principal angles and distances of subspaces of Rⁿ
    factored_forms  heads as bilinear forms of low rank, and their distances
    geodesics       flows to unit time, and whether a logarithm has converged
"""

from hopfield._arguments import public
from hopfield.geometry import families, manifolds, spd, sphere
from hopfield.geometry.factored_forms import (
    FactoredForm,
    data_weighted_distance,
    factored,
    frobenius_distance,
    product_distance,
)
from hopfield.geometry.geodesics import LogInfo
from hopfield.geometry.induced import (
    attention_christoffels,
    attention_christoffels_first,
    attention_metric_matrix,
    fisher_length,
)
from hopfield.geometry.subspaces import (
    Baseline,
    grassmann_distance,
    orthonormal_basis,
    principal_angles,
    random_baseline,
)

__all__ = [
    "Baseline",
    "FactoredForm",
    "LogInfo",
    "attention_christoffels",
    "attention_christoffels_first",
    "attention_metric_matrix",
    "data_weighted_distance",
    "factored",
    "families",
    "fisher_length",
    "frobenius_distance",
    "grassmann_distance",
    "manifolds",
    "orthonormal_basis",
    "principal_angles",
    "product_distance",
    "random_baseline",
    "spd",
    "sphere",
]
__dir__ = public(__all__)

"""Geometry: curved spaces, Fisher–Rao families, the metric of attention, subspaces and forms of attention heads."""

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

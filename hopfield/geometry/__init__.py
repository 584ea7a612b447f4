"""Geometry: curved spaces, Fisher–Rao families, the metric of attention, subspaces and forms of attention heads."""

from hopfield.geometry import families, manifolds
from hopfield.geometry.induced import (
    attention_christoffel,
    attention_christoffel_first,
    attention_metric,
    fisher_length,
)
from hopfield.geometry.subspaces import (
    Baseline,
    FactoredForm,
    data_weighted_distance,
    factored,
    frobenius_distance,
    grassmann_distance,
    orthonormal_basis,
    principal_angles,
    product_distance,
    random_baseline,
)

__all__ = [
    "Baseline",
    "FactoredForm",
    "attention_christoffel",
    "attention_christoffel_first",
    "attention_metric",
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
]

"""Metric tensors and bilinear forms: how a query is compared with a key, x g y = x^a g_ab y^b.

`forms` holds the parametrisations, `composed` metrics made of parts, `measures` what a metric measures (norms, angles,
indices up and down) and `contractions` the named einsum formulas of attention.
"""

from hopfield._arguments import public
from hopfield.metrics.composed import BlockDiagonal, Projected, augmented
from hopfield.metrics.contractions import CONTRACTIONS, Contraction, contract
from hopfield.metrics.forms import (
    Diagonal,
    Euclidean,
    Full,
    LowRank,
    Metric,
    Scaled,
    as_metric,
)
from hopfield.metrics.measures import (
    angle,
    antisymmetric_part,
    change_of_basis,
    components,
    condition_number,
    distance,
    eigenvalues,
    inner,
    inverse,
    is_positive_definite,
    is_symmetric,
    lower,
    norm,
    raise_index,
    rank,
    symmetric_part,
    volume_element,
)

__all__ = [
    "CONTRACTIONS",
    "BlockDiagonal",
    "Contraction",
    "Diagonal",
    "Euclidean",
    "Full",
    "LowRank",
    "Metric",
    "Projected",
    "Scaled",
    "angle",
    "antisymmetric_part",
    "as_metric",
    "augmented",
    "change_of_basis",
    "components",
    "condition_number",
    "contract",
    "distance",
    "eigenvalues",
    "inner",
    "inverse",
    "is_positive_definite",
    "is_symmetric",
    "lower",
    "norm",
    "raise_index",
    "rank",
    "symmetric_part",
    "volume_element",
]
__dir__ = public(__all__)

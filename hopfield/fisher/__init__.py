"""Fisher information of a model's outputs as a lazy linear operator, its structured forms and its solvers."""

from hopfield._arguments import public
from hopfield.fisher.block_forms import BlockDiagonal, DenseBlock, DiagonalBlock, KroneckerBlock
from hopfield.fisher.building import fisher
from hopfield.fisher.likelihoods import (
    Bernoulli,
    Categorical,
    Gaussian,
    Likelihood,
    MeanVariance,
    Poisson,
    as_likelihood,
)
from hopfield.fisher.operator import FISHER_KINDS, SOLVERS, Fisher
from hopfield.fisher.solvers import SolveInfo, conjugate_gradient, dense_solve

__all__ = [
    "FISHER_KINDS",
    "SOLVERS",
    "Bernoulli",
    "BlockDiagonal",
    "Categorical",
    "DenseBlock",
    "DiagonalBlock",
    "Fisher",
    "Gaussian",
    "KroneckerBlock",
    "Likelihood",
    "MeanVariance",
    "Poisson",
    "SolveInfo",
    "as_likelihood",
    "conjugate_gradient",
    "dense_solve",
    "fisher",
]
__dir__ = public(__all__)

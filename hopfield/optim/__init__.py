"""Optimisers: natural gradients of a model, exact and approximate, and gradient descent on manifolds as in optax.

By module:

    natural     steps with the Fisher information of the batch, solved exactly or iteratively
    kronecker   steps with Kronecker factors or the diagonal, averaged over steps
    riemannian  descent for parameters that stay normed, orthogonal or positive definite

A new one is a file here and its import and entry of `__all__` below, by which its contract finds it.
"""

from hopfield._arguments import public
from hopfield.optim._steps import NaturalOptimiser
from hopfield.optim.kronecker import diagonal_fisher, kronecker_natural_gradient
from hopfield.optim.natural import NaturalGradientState, natural_gradient
from hopfield.optim.riemannian import (
    Manifold,
    Oblique,
    PositiveDefinite,
    Stiefel,
    riemannian_gradient_descent,
)

__all__ = [
    "Manifold",
    "NaturalGradientState",
    "NaturalOptimiser",
    "Oblique",
    "PositiveDefinite",
    "Stiefel",
    "diagonal_fisher",
    "kronecker_natural_gradient",
    "natural_gradient",
    "riemannian_gradient_descent",
]
__dir__ = public(__all__)

"""Fenchel–Young potentials, whose weights are sparse: F(z) = max over the simplex of p·z + regulariser(p)."""

from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from hopfield._arguments import number_scalar
from hopfield._names import Named
from hopfield._numerics import is_traced, nan_outside
from hopfield._pytrees import fill
from hopfield.separations import simplex
from hopfield.separations.base import ByBlocks, Scalar, Separation
from hopfield.separations.jacobians import normmax_jacobian_product, sparse_jacobian_product
from hopfield.separations.simplex import Mask, Scores, shifted


class Sparsemax(Separation):
    """F = max_p p·z + ½(1 − ‖p‖²) over the simplex, weights = sparsemax (Martins & Astudillo 2016).

    Example:
        >>> from hopfield import separations
        >>> np.round(separations.Sparsemax().weights(jnp.array([0.5, 0.1, -1.0])).tolist(), 3).tolist()
        [0.7, 0.3, 0.0]
    """

    alpha: ClassVar[float] = 2.0
    """As an α-entmax."""
    normalised: ClassVar[bool] = True
    by_blocks: ClassVar[ByBlocks] = "threshold"

    def potential(self, z, mask=None):
        return _fenchel_young(self, z, mask)

    def _regulariser(self, p: Scores) -> Scalar:
        return 0.5 * jnp.sum(p - p * p)

    def weights(self, z, mask=None):
        return simplex.sparsemax(z, mask).astype(z.dtype)

    def jacobian_product(self, p, v):
        return sparse_jacobian_product(p, v, self.alpha)


class Entmax(Separation):
    """F = max_p p·z + H_α(p), weights = α-entmax, 1 < α ≤ 2; `SteepEntmax` goes on to 3.

    Source: Peters, Niculae & Martins 2019, eq. 6.

    Example:
        >>> from hopfield import separations
        >>> np.round(separations.Entmax(1.5).weights(jnp.array([2.0, 1.0, -1.0])).tolist(), 3).tolist()
        [0.831, 0.169, 0.0]
    """

    alpha: Scalar | float = 1.5
    most: ClassVar[float] = 2.0
    normalised: ClassVar[bool] = True
    by_blocks: ClassVar[ByBlocks] = "threshold"

    def __post_init__(self) -> None:
        contract = f"greater than 1 and at most {self.most:g} for {type(self).__name__}"
        fill(self, alpha=_real("alpha", self.alpha, 1.0, self.most, contract))

    def potential(self, z, mask=None):
        return _fenchel_young(self, z, mask)

    def _regulariser(self, p: Scores) -> Scalar:
        return simplex.tsallis_entropy(p, self.alpha)

    def weights(self, z, mask=None):
        return simplex.entmax(z, self.alpha, mask).astype(z.dtype)

    def jacobian_product(self, p, v):
        return sparse_jacobian_product(p, v, self.alpha)


class SteepEntmax(Entmax):
    """α-entmax with 1 < α ≤ 3, weights [(α−1)(z − τ)]₊^(1/(α−1)).

    Beyond 2 a weight leaves zero with an infinite slope, p^(2−α), so that the supports are smaller still. Derivatives
    are those from within the support; a weight that is zero has none, and one alone near the edge moves by no more than
    the slopes of the others allow, for their sum stays one. The threshold is bisected, of all scores at once.

    Example:
        >>> from hopfield import separations
        >>> np.round(separations.SteepEntmax(3.0).weights(jnp.array([0.5, 0.1, -1.0])).tolist(), 3).tolist()
        [0.9, 0.1, 0.0]
    """

    alpha: Scalar | float = 2.5
    most: ClassVar[float] = 3.0
    by_blocks: ClassVar[ByBlocks] = None


class Normmax(Separation):
    """F = max_p p·z + 1 − ‖p‖_α, weights = α-normmax, α > 1. A large α spreads the weight evenly over few patterns.

    Source: Blondel, Martins & Niculae 2020, §4.3; as a Hopfield network, Santos et al. 2024.

    Example:
        >>> from hopfield import separations
        >>> np.round(separations.Normmax(2.0).weights(jnp.array([0.5, 0.1, -1.0])).tolist(), 3).tolist()
        [0.647, 0.353, 0.0]
    """

    alpha: Scalar | float = 2.0
    normalised: ClassVar[bool] = True

    def __post_init__(self) -> None:
        fill(self, alpha=_real("alpha", self.alpha, 1.0, float("inf"), "finite and greater than 1 for Normmax"))

    def potential(self, z, mask=None):
        return simplex.normmax(z, self.alpha, mask)[1]

    def _regulariser(self, p):
        return 1.0 - simplex.alpha_norm(p, self.alpha)

    def weights(self, z, mask=None):
        return simplex.normmax(z, self.alpha, mask)[0].astype(z.dtype)

    def jacobian_product(self, p, v):
        return normmax_jacobian_product(p, v, self.alpha)


@jax.custom_jvp
def _fenchel_young(separation: Sparsemax | Entmax, z: Scores, mask: Mask) -> Scalar:
    """F(z) = p·z + regulariser(p) at p = weights(z); by the envelope theorem its derivative treats p as constant."""
    s, top = shifted(z, mask)
    p = separation.weights(z, mask).astype(s.dtype)
    value = jnp.sum(jnp.where(p == 0, 0.0, p * s)) + separation._regulariser(p) + top
    return jnp.where(jnp.all(s == -jnp.inf), -jnp.inf, value)


@_fenchel_young.defjvp
def _fenchel_young_jvp(primals, tangents):
    separation, z, mask = primals
    d_separation, dz, _ = tangents
    p = separation.weights(z, mask).astype(shifted(z, mask)[0].dtype)
    _, d_regulariser = jax.jvp(lambda sep: sep._regulariser(p), (separation,), (d_separation,))
    return _fenchel_young(separation, z, mask), jnp.sum(p * dz.astype(p.dtype)) + d_regulariser


def _real(name: str, value, low: float, high: float, contract: str) -> Array:
    if is_traced(value):
        return nan_outside(value, (low < value) & (value <= high) & (value < jnp.inf))
    kept = float(np.asarray(float(number_scalar(name, value, contract)), jnp.result_type(float)))  # as it will be used
    if not low < kept <= high or kept == float("inf"):
        raise ValueError(f"{name} must be {contract}, got {value}")
    with jax.ensure_compile_time_eval():  # a number while a program is traced, too: kernels are compiled for it
        return jnp.asarray(kept)


def _entmax(alpha: float = 1.5) -> Entmax:
    """α-entmax with 1 < α ≤ 3, of the class that belongs to α."""
    return SteepEntmax(alpha) if alpha > Entmax.most else Entmax(alpha)


NAMES = {"sparsemax": Named(Sparsemax), "entmax": Named(_entmax, float), "normmax": Named(Normmax, float)}

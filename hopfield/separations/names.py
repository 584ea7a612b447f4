"""Separations by name, "name" or "name:number", wherever one is chosen: in a memory, in a layer, on a command line."""

from hopfield._names import Named, Table
from hopfield.separations.base import Separation
from hopfield.separations.exponential import Exponential, LogSumExp
from hopfield.separations.largest import top_k
from hopfield.separations.polynomial import Linear, polynomial
from hopfield.separations.relu import LogReLU
from hopfield.separations.softmax_one import SoftmaxOne
from hopfield.separations.sparse import Sparsemax, entmax, normmax


def _rectified_polynomial(degree: int = 2) -> Separation:
    return polynomial(degree, rectified=True)


def _largest() -> Separation:
    return top_k(1)


NAMES: dict[str, Named] = {
    "softmax": Named(LogSumExp),
    "softmax1": Named(SoftmaxOne),
    "sparsemax": Named(Sparsemax),
    "entmax": Named(entmax, float),
    "normmax": Named(normmax, float),
    "top_k": Named(top_k, int),
    "max": Named(_largest),
    "linear": Named(Linear),
    "polynomial": Named(polynomial, int),
    "rectified": Named(_rectified_polynomial, int),
    "exponential": Named(Exponential),
    "epanechnikov": Named(LogReLU),
}
"""The one table of names: `linear` is ½‖z‖², `polynomial:n` Σ zⁿ/n, `rectified:n` Σ [z]₊ⁿ/n, `max` is `top_k:1`."""


_TABLE = Table(Separation, "separations", NAMES)


def as_separation(separation: Separation | str) -> Separation:
    """Separation that is given, or named as in `find`. Raises TypeError for anything else."""
    return _TABLE.part(separation)


def find(spec: str) -> Separation:
    """Separation by "name" or "name:number": `softmax`, `entmax:1.5`, `top_k:8`, `rectified:2`.

    Raises:
        ValueError: an unknown name, a number where none may be, no number after the colon, or one out of range.
    """
    return _TABLE.find(spec)

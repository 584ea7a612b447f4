"""Separations by name, "name" or "name:number", wherever one is chosen: in a memory, in a layer, on a command line."""

import difflib
from collections.abc import Callable
from typing import Any, NamedTuple

from hopfield import outside
from hopfield._checks import instance, spelled
from hopfield._numerics import shown
from hopfield.separations.base import Separation
from hopfield.separations.exponential import Exponential, LogSumExp, top_k
from hopfield.separations.polynomial import Linear, polynomial
from hopfield.separations.relu import LogReLU
from hopfield.separations.softmax_one import SoftmaxOne
from hopfield.separations.sparse import Sparsemax, entmax, normmax


class Named(NamedTuple):
    """Constructor of a named separation, and the type of the number that may follow it, None where none may."""

    build: Callable[..., Separation]
    number: type | None = None


def _rectified(degree: int = 2) -> Separation:
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
    "rectified": Named(_rectified, int),
    "exponential": Named(Exponential),
    "epanechnikov": Named(LogReLU),
}
"""The one table of names: `linear` is ½‖z‖², `polynomial:n` Σ zⁿ/n, `rectified:n` Σ [z]₊ⁿ/n, `max` is `top_k:1`."""


def as_separation(separation: Separation | str) -> Separation:
    """A separation as it is, or by name as `find` reads it. Raises TypeError for anything else."""
    if isinstance(separation, Separation):
        return separation
    if not isinstance(separation, str):
        raise TypeError(f"separation must be a Separation or one of {', '.join(NAMES)}, got {shown(separation)}")
    return find(separation)


def find(spec: str) -> Separation:
    """The separation that "name" or "name:number" stands for: `softmax`, `entmax:1.5`, `top_k:8`, `rectified:2`.

    Raises:
        ValueError: an unknown name, a number where none may be, no number after the colon, or one out of range.
    """
    name, colon, text = instance("separation", spec, str).partition(":")
    found = outside.find("separations", spec) if name not in NAMES else None
    if found is not None:
        return _from_outside(found, spec)
    if name not in NAMES:
        near = difflib.get_close_matches(name, NAMES, 1)
        hint = f" (write {near[0]}{colon}{text})" if near else ""
        raise ValueError(f"separation must be one of {', '.join(NAMES)}, got {spec!r}{hint}")
    build, kind = NAMES[name]
    if not colon:
        return build()
    if kind is None:
        raise ValueError(f"separation must be {name} without a number, got {spec!r}")
    return build(_number(spec, text, kind))


def _number(spec: str, text: str, kind: type = float) -> Any:
    """The number after the colon of a specification."""
    try:
        return spelled(kind, text)
    except ValueError:
        name, article = spec.removesuffix(f":{text}"), {int: "an integer", float: "a number"}[kind]
        raise ValueError(f"separation must give {name} {article} after the colon, got {spec!r}") from None


def _from_outside(found: outside.Outside, spec: str) -> Separation:
    """A separation as it stands elsewhere, or what a class or function of its parameter returns."""
    value = found.value
    if callable(value) and not isinstance(value, Separation):
        parameter = () if found.parameter is None else (_number(spec, found.parameter),)
        value = outside.called("separation", spec, value, *parameter)
    if not isinstance(value, Separation):
        raise ValueError(f"separation must be a Separation or return one, got {type(value).__name__} from {spec!r}")
    return value

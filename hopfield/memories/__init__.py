"""Published memories, one module each, found by name: a function from patterns to a model, and how its load is counted.

A module `hopfield/memories/<name>.py` defines

    <name>(patterns, [parameter], *, mask=None, …) -> Memory | Couplings
    SCALING: Scaling, or a function of the parameter returning one
    ENSEMBLE: the random patterns its theory is stated for ("spins" or "sphere")
    PARAMETER: (optional) the type of the one number that may follow the name, as in `dense:4`

and needs no registration anywhere.
"""

import importlib
import inspect
import math
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from hopfield.sweeps import Model


class Scaling(NamedTuple):
    """How a memory's load α counts patterns M against neurons N."""

    symbol: str
    load: Callable[[float, float], float]
    """α from (patterns, neurons)."""
    patterns: Callable[[float, float], float]
    """M from (load, neurons), not rounded."""


EXTENSIVE = Scaling("M / N", lambda m, n: m / n, lambda a, n: a * n)
EXPONENTIAL = Scaling("ln M / N", lambda m, n: math.log(m) / n, lambda a, n: math.exp(a * n))


def polynomial_scaling(degree: int) -> Scaling:
    """M / N^(n−1), the scaling of a dense memory of degree n."""
    if degree == 2:
        return EXTENSIVE
    power = degree - 1
    return Scaling(f"M / N^{power}", lambda m, n: m / n**power, lambda a, n: a * n**power)


class Blueprint(NamedTuple):
    """A memory chosen by name and parameter, not yet given patterns."""

    spec: str
    name: str
    build: Callable[..., Model]
    scaling: Scaling
    ensemble: str

    def rounded(self, load: float, neurons: int) -> int:
        """Number of patterns nearest to a load, at least 1."""
        return max(1, round(self.scaling.patterns(load, neurons)))


@cache
def names() -> tuple[str, ...]:
    """Every published memory's name, in alphabetical order."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


def find(spec: str) -> "Blueprint":
    """The memory a specification names: `classical`, or with its one parameter after a colon, `dense:4`, `sparse:1.5`.

    Raises:
        ValueError: unknown name, or a parameter that is missing its meaning, of the wrong type or out of range.
    """
    name, _, text = spec.partition(":")
    if name not in names():
        raise ValueError(f"memory must be one of {', '.join(names())}, got {spec!r}")
    module = importlib.import_module(f"{__name__}.{name}")
    function = getattr(module, name)
    if not text and ":" not in spec:
        scaling = module.SCALING if isinstance(module.SCALING, Scaling) else module.SCALING(_default(function))
        return Blueprint(spec, name, function, scaling, module.ENSEMBLE)
    kind = getattr(module, "PARAMETER", None)
    if kind is None:
        raise ValueError(f"memory {name} takes no parameter, got {spec!r}")
    try:
        value = kind(text)
    except ValueError:
        raise ValueError(f"memory {name} takes {_article(kind)} after the colon, got {spec!r}") from None
    scaling = module.SCALING if isinstance(module.SCALING, Scaling) else module.SCALING(value)

    def build(patterns, **options):
        return function(patterns, value, **options)

    return Blueprint(spec, name, build, scaling, module.ENSEMBLE)


def _default(function: Callable):
    return list(inspect.signature(function).parameters.values())[1].default


def _article(kind: type) -> str:
    return {int: "an integer", float: "a number"}[kind]

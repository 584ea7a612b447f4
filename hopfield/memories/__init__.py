"""Published memories, one module each, found by name: a function from patterns to a model, and how its load is counted.

A module `hopfield/memories/<name>.py` defines

    <name>(patterns, [parameter], *, mask=None, …) -> Memory | Couplings
    SCALING: Scaling, or a function of the parameter returning one
    ENSEMBLE: the random patterns its theory is stated for ("spins" or "sphere")
    THEORY: (optional) a `hopfield.theory.base.Theory`, or a function of the parameter returning one
    PARAMETER: (optional) the type of the one number that may follow the name, as in `dense:4`
    INTEGER_FIELDS: (optional) True where fields are sums of M integers, so that an even M can leave exact ties

and needs no registration anywhere.
"""

import importlib
import inspect
import math
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from hopfield._checks import instance, number, whole
from hopfield.dynamics.asynchronous import Model
from hopfield.theory.base import Theory


class Scaling(NamedTuple):
    """How a memory's load α counts patterns M against neurons N."""

    symbol: str
    load: Callable[[float, float], float]
    """α from (patterns, neurons)."""
    patterns: Callable[[float, float], float]
    """M from (load, neurons), not rounded."""


EXTENSIVE = Scaling("M / N", lambda m, n: m / n, lambda a, n: a * n)
EXPONENTIAL = Scaling("ln M / N", lambda m, n: math.log(m) / n, lambda a, n: math.exp(min(a * n, 700.0)))


def polynomial_scaling(degree: int) -> Scaling:
    """M / N^(n−1), the scaling of a dense memory of degree n."""
    if degree == 2:
        return EXTENSIVE
    power = degree - 1
    return Scaling(f"M / N^{power}", lambda m, n: m / n**power, lambda a, n: a * float(n) ** power)


PARITIES = ("odd", "even", "any")


class Blueprint(NamedTuple):
    """A memory chosen by name and parameter, not yet given patterns."""

    spec: str
    build: Callable[..., Model]
    """From patterns [M, N], with keywords mask and, where `takes_beta`, beta."""
    scaling: Scaling
    ensemble: str
    takes_beta: bool
    beta: float | None
    """Inverse temperature unless another is asked for; None where there is none or the patterns decide."""
    integer_fields: bool = False
    """Whether fields are sums of M integers, so that an even M can leave exact ties, which keep a spin."""

    theory: Theory = Theory()
    """What is predicted of it."""

    def rounded(self, load: float, neurons: int, parity: str = "any") -> int:
        """Number of patterns nearest to a load, at least 1; odd or even where `parity` says so and fields are integers.

        With Hebb's rule and an even N, N·h_i has the parity of M: at odd M there are no ties, at even M ties keep the
        spin and move thresholds by order 1/N. Of two numbers at the same distance the larger one counts.

        Raises:
            ValueError: `parity` is none of PARITIES, or a load or size that is none.
        """
        if parity not in PARITIES:
            raise ValueError(f"parity must be one of {', '.join(PARITIES)}, got {parity!r}")
        neurons = whole("neurons", neurons)
        patterns = self.scaling.patterns(number("load", load, "a finite number of at least 0", 0.0), neurons)
        if parity == "any" or not self.integer_fields:
            return max(1, round(patterns))
        odd = parity == "odd"
        return max(1 if odd else 2, 2 * math.floor((patterns + (0 if odd else 1)) / 2) + odd)


@cache
def names() -> tuple[str, ...]:
    """Every published memory's name, in alphabetical order."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


@cache
def find(spec: str) -> Blueprint:
    """The memory a specification names: `classical`, or with its one parameter after a colon, `dense:4`, `sparse:1.5`.

    Raises:
        ValueError: unknown name, or a parameter that the memory does not take, of the wrong type or out of range.
    """
    name, colon, text = instance("memory", spec, str).partition(":")
    if name not in names():
        raise ValueError(f"memory must be one of {', '.join(names())}, got {spec!r}")
    module = importlib.import_module(f"{__name__}.{name}")
    function = getattr(module, name)
    signature = inspect.signature(function).parameters
    arguments = [_parameter(spec, text, getattr(module, "PARAMETER", None))] if colon else []
    parameter = arguments or [parameter.default for parameter in list(signature.values())[1:2]]
    scaling = module.SCALING if isinstance(module.SCALING, Scaling) else module.SCALING(*parameter)
    theory = getattr(module, "THEORY", Theory())
    beta = signature["beta"].default if "beta" in signature else None

    def build(patterns, *unnamed, **options):
        if unnamed:
            raise TypeError(f"options of {spec} must be given by name, got {unnamed[0]!r:.60}")
        for option in options:
            if option not in signature:
                known = ", ".join([*signature][1 + len(arguments) :])
                raise TypeError(f"options of {spec} must be among {known}, got {option!r}")
        return function(patterns, *arguments, **options)

    if arguments:  # the model itself knows which values it takes
        build(np.ones((1, 2)))
    integers = bool(getattr(module, "INTEGER_FIELDS", False))
    theory = theory if isinstance(theory, Theory) else theory(*parameter)
    return Blueprint(spec, build, scaling, module.ENSEMBLE, "beta" in signature, beta, integers, theory)


def _parameter(spec: str, text: str, kind: type | None):
    name = spec.partition(":")[0]
    if kind is None:
        raise ValueError(f"memory {name} takes no parameter, got {spec!r}")
    try:
        return kind(text)
    except ValueError:
        article = {int: "an integer", float: "a number"}[kind]
        raise ValueError(f"memory {name} takes {article} after the colon, got {spec!r}") from None

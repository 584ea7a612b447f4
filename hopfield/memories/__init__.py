"""Published memories, one module each, found by name: a function from patterns to a model, and how its load is counted.

A module `hopfield/memories/<name>.py`, which needs no registration, defines

    <name>(patterns, [parameter], *, mask=None, …) -> Memory | Couplings, or any pytree that steps a state
    SCALING: (optional) Scaling, or a function of the parameter returning one; by signal to noise where there is none
    ENSEMBLE: the random patterns its theory is stated for ("spins" or "sphere")
    DRAW: (optional) a function of key, M, N and the parameter that draws these patterns where they are biased
    THEORY: (optional) a `theory.base.Theory`, or a function of the parameter returning one; else `theory.derived`
    PARAMETER: (optional) the type of the one number that may follow the name, as in `dense:4`
    SYMBOL: (optional) the symbol of that number in LaTeX; the name of the argument where there is none
    INTEGER_FIELDS: (optional) True where fields are sums of M integers, so that an even M can leave exact ties

Models with other states or updates than a `Memory` stand outside: `networks.binary` (neurons {0, 1}; two of these rules
are, as spins, the memories covariance and willshaw), `networks.sequences` (each step leads to the next pattern),
`networks.bidirectional` (states are pairs), `networks.random_features` (a fixed size, which keeps no pattern) and
`graphs` (states by layer).
"""

import importlib
import inspect
import math
import pkgutil
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any, Literal, NamedTuple, get_args

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from hopfield import outside
from hopfield._arguments import instance, integer, one_of, parse_number, public, real_scalar, shown
from hopfield._names import unknown_name
from hopfield._parts import reads_masked
from hopfield.couplings import Couplings
from hopfield.dynamics.models import as_stepped
from hopfield.memories._derived import derived_theory
from hopfield.memories._scaling import (
    EXPONENTIAL,
    EXTENSIVE,
    MOST_PATTERNS,
    Scaling,
    TooManyPatterns,
    polynomial_scaling,
)
from hopfield.memory import Memory
from hopfield.patterns.sources import Source
from hopfield.spaces import Euclidean, Spins
from hopfield.theory.base import Theory

__all__ = ["EXPONENTIAL", "EXTENSIVE", "PARITIES", "Blueprint", "Scaling", "find", "names", "polynomial_scaling"]
__dir__ = public(__all__)

Stored = Float[Array, "M N"]
Patterns = Stored | Source
Values = Float[Array, "M V"] | Source | None
Used = Bool[Array, "M"] | None
"""Parts that a memory is built from: patterns [M, N], what they are read as [M, V], and which are in use [M]."""


KEY = 0
"""Seed of the draws of a memory that is chosen by its name alone."""
Parity = Literal["odd", "even", "any"]
PARITIES: tuple[Parity, ...] = get_args(Parity)


class Blueprint(NamedTuple):
    """A memory chosen by name and parameter, not yet given patterns.

    Example:
        >>> from hopfield import memories
        >>> classical = memories.find("classical")
        >>> classical.rounded(0.1, 20), classical.build(np.ones((2, 20))).classical
        (2, True)
    """

    spec: str
    build: Callable[..., Memory | Couplings]
    """From patterns [M, N], with keywords mask and, where `takes_beta`, beta; β of None is the memory's own, if any.
    A memory that draws, as unlearning does, draws from `KEY` unless `key` is given: one name is one function."""
    scaling: Scaling
    ensemble: str
    takes_beta: bool
    beta: float | None
    """Inverse temperature unless another is asked for; None where there is none or the patterns decide."""
    integer_fields: bool = False
    """True if fields are sums of M integers, so that an even M can leave exact ties, which keep a spin."""
    draw: Callable[..., Any] | None = None
    """Biased random patterns of key, M and N, if the theory is stated for them; None if it is stated for `ensemble`."""

    def __repr__(self) -> str:
        return f"Blueprint({self.spec!r}, load {self.scaling.symbol}, {self.ensemble})"

    @property
    def sample(self) -> Any:
        """Memory of one two-component pattern, built on each access to inspect the type (in the current precision)."""
        return self.build(np.ones((1, 2), np.float32))

    @property
    def theory(self) -> Theory:
        """Theory of the memory: by its own file, or else from its separation alone."""
        return _theory(self)

    @property
    def parameter(self) -> tuple[str, float] | None:
        """Symbol, in LaTeX, and usual value of the number that may follow the name. None if no number may follow."""
        module, name, _ = _find_module(self.spec)
        argument = _argument(module, name)
        return (getattr(module, "SYMBOL", argument.name), argument.default) if hasattr(module, "PARAMETER") else None

    def failing(self, num_patterns: int, neurons: int) -> str:
        """Sentence on why that many random patterns make a memory of NaN; empty if not, or if they are too many."""
        if num_patterns * neurons > 2**22:
            return ""
        rows = np.random.default_rng(0).choice(np.array([-1, 1], np.float32), (num_patterns, neurons))
        try:
            model = self.build(rows if self.ensemble == "spins" else rows / np.float32(neurons**0.5))
        except (ValueError, FloatingPointError) as error:
            return str(error)
        held = [leaf for leaf in jax.tree.leaves(model) if jnp.issubdtype(jnp.result_type(leaf), jnp.floating)]
        if any(bool(jnp.isnan(leaf).any()) for leaf in held):
            return f"{type(model).__name__} of them holds NaN"
        return "an update of a pattern is NaN" if bool(jnp.isnan(model.update(model.as_state(rows[0]))).any()) else ""

    def rounded(self, load: float, neurons: int, parity: Parity = "any") -> int:
        """Number of patterns nearest to a load, at least 1; odd or even where `parity` says so and fields are integers.

        With Hebb's rule and an even N, N·h_i has the parity of M: at odd M there are no ties, at even M ties keep the
        spin and move thresholds by order 1/N. Of two numbers at the same distance the even one counts, of two of one
        parity the larger.

        Raises:
            ValueError: `parity` is not one of PARITIES, or the load or size is out of range, or M beyond e^700.
        """
        one_of("parity", parity, PARITIES)
        neurons = integer("neurons", neurons)
        num_patterns = self.scaling.num_patterns(
            real_scalar("load", load, "a finite number of at least 0", 0.0), neurons
        )
        if not num_patterns <= MOST_PATTERNS:
            raise TooManyPatterns(f"load must give at most e^700 patterns, got {shown(load)} at N={neurons}")
        if parity == "any" or not self.integer_fields:
            return max(1, round(num_patterns))
        odd = parity == "odd"
        return max(1 if odd else 2, 2 * math.floor((num_patterns + (0 if odd else 1)) / 2) + odd)


@cache
def names() -> tuple[str, ...]:
    """Every published memory's name, in alphabetical order."""
    return tuple(sorted(found.name for found in pkgutil.iter_modules(__path__) if not found.name.startswith("_")))


def _find_module(spec: str) -> tuple[ModuleType, str, str | None]:
    """The module of a memory, its name there, and the text of its parameter, None where none is given."""
    name, colon, text = instance("memory", spec, str).partition(":")
    if name in names():
        return importlib.import_module(f"{__name__}.{name}"), name, text if colon else None
    entry = outside.find("memories", spec)
    if entry is None:
        raise unknown_name("memory", spec, (*names(), *outside.plugged("memories")))
    return entry.module, entry.name, entry.parameter


def find(spec: str) -> Blueprint:
    """The memory a specification names: `classical`, or with its one parameter after a colon, `dense:4`, `sparse:1.5`.

    `./file.py:name` and `package.module:name` name memories outside the package, defined like the files here.

    Raises:
        ValueError: unknown name, or a parameter that the memory does not take, of the wrong type or out of range.
    """
    return _blueprint(spec, *_find_module(spec))  # the module of a file is another one when the file has changed


@cache
def _blueprint(spec: str, module: ModuleType, name: str, text: str | None) -> Blueprint:
    function: Any = getattr(module, name)
    if not callable(function):
        raise ValueError(f"memory must be a function of patterns, got {shown(function)} as {spec!r}")
    signature = inspect.signature(function).parameters
    arguments = [] if text is None else [_parameter(spec, text, getattr(module, "PARAMETER", None))]
    parameter = arguments or [entry.default for entry in list(signature.values())[1:2]]
    scaling = getattr(module, "SCALING", None)
    beta = signature["beta"].default if "beta" in signature else None
    integers, ensemble = bool(getattr(module, "INTEGER_FIELDS", False)), getattr(module, "ENSEMBLE", "spins")

    draws = "key" in signature and signature["key"].default is inspect.Parameter.empty

    def build(patterns, *unnamed, **options) -> Any:
        if unnamed:
            raise TypeError(f"options of {spec} must be given by name, got {shown(unnamed[0])}")
        options = {name: value for name, value in options.items() if name != "beta" or value is not None}
        if draws:
            options = {"key": jax.random.key(KEY)} | options
        for option in options:
            if option not in signature:
                known = ", ".join([*signature][1 + len(arguments) :])
                raise TypeError(f"options of {spec} must be among {known}, got {option!r}")
        states = Spins() if ensemble == "spins" else Euclidean()
        return as_stepped(f"what {spec!r} returns", function(patterns, *arguments, **options), states)

    if arguments or module.__package__ != __name__:  # the model itself knows which values it takes
        outside.called("memory", spec, build, np.ones((1, 2)))
    if "mask" not in signature:
        raise ValueError(f"memory must take an option mask, which patterns there are, got {spec!r} without one")
    if module.__package__ != __name__ and outside.called("memory", spec, reads_masked, build):
        raise ValueError(
            f"memory must read no pattern that its mask leaves out, got {spec!r}, whose steps change with one"
        )
    draw = getattr(module, "DRAW", None)
    drawn = draw and (lambda key, num_patterns, neurons: draw(key, num_patterns, neurons, *arguments))
    blueprint = Blueprint(spec, build, EXTENSIVE, ensemble, "beta" in signature, beta, integers, drawn)
    if scaling is None:
        return blueprint._replace(scaling=_derived_scaling(blueprint))
    return blueprint._replace(scaling=scaling if isinstance(scaling, Scaling) else scaling(*parameter))


@cache
def _theory(blueprint: Blueprint) -> Theory:
    module, name, text = _find_module(blueprint.spec)
    if not hasattr(module, "THEORY"):
        unbiased = blueprint.draw is None  # as theory from the separation alone takes them to be
        return (derived_theory(blueprint, blueprint.scaling.load) if unbiased else None) or Theory()
    if isinstance(module.THEORY, Theory):
        return module.THEORY
    given = _parameter(blueprint.spec, text, module.PARAMETER) if text is not None else _argument(module, name).default
    return module.THEORY(given)


def _argument(module: ModuleType, name: str) -> inspect.Parameter:
    """The argument of a memory that follows its patterns: its parameter, if it has one."""
    return list(inspect.signature(getattr(module, name)).parameters.values())[1]


def _derived_scaling(blueprint: Blueprint) -> Scaling:
    """Scaling of the load derived from signal to noise, for a memory without one in its file."""
    if not isinstance(blueprint.sample, Memory):  # N² numbers
        return EXTENSIVE
    theory = derived_theory(blueprint, None)
    if theory is None or theory.power is None:
        raise ValueError(
            f"memory {blueprint.spec} must define SCALING: its signal-to-noise ratio is not a power of N; write "
            f"{blueprint.spec.rpartition(':')[2]}.SCALING = hopfield.memories.EXTENSIVE for M / N, or EXPONENTIAL"
        )
    return polynomial_scaling(theory.power + 1) if theory.power else EXPONENTIAL


def _parameter(spec: str, text: str, kind: type | None):
    name = spec.partition(":")[0]
    if kind is None:
        raise ValueError(f"memory {name} takes no parameter, got {spec!r}")
    try:
        return parse_number(kind, text)
    except ValueError:
        article = {int: "an integer", float: "a number"}[kind]
        raise ValueError(f"memory {name} takes {article} after the colon, got {spec!r}") from None

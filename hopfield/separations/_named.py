"""Separations by name, "name" or "name:number", wherever one is chosen: in a memory, in a layer, on a command line."""

import importlib
import pkgutil
import sys
from weakref import WeakSet

import jax
import jax.numpy as jnp
import numpy as np

from hopfield._names import Named, Table
from hopfield._numerics import is_traced
from hopfield.separations.base import Separation

FOLDER = __name__.rpartition(".")[0]


def collected() -> dict[str, Named]:
    """Names that files of this folder give their separations, in NAMES: by name, how one is built."""
    found: dict[str, Named] = {}
    for file in pkgutil.iter_modules(sys.modules[FOLDER].__path__):
        if not file.name.startswith("_"):
            names = getattr(importlib.import_module(f"{FOLDER}.{file.name}"), "NAMES", {})
            if taken := found.keys() & names:
                raise ValueError(f"NAMES of {file.name} must be new, got {', '.join(sorted(taken))}")
            found |= names
    return found


NAMES: dict[str, Named] = collected()
"""The one table of names: `linear` is ½‖z‖², `polynomial:n` Σ zⁿ/n, `rectified:n`, and of a real n `power:n`, Σ [z]₊ⁿ/n
and `max` is `top_k:1`."""


_TABLE = Table(Separation, "separations", NAMES)


def names() -> tuple[str, ...]:
    """Every name of a separation."""
    return tuple(NAMES)


def as_separation(separation: Separation | str) -> Separation:
    """Separation that is given, or named as in `find`; of a class outside of the package, its weights are tried.

    Raises:
        TypeError: it is anything else.
        ValueError: weights of a class of one's own are not the gradient of its potential.
    """
    found = _TABLE.part(separation)
    if type(found) not in _TRIED and not type(found).__module__.startswith("hopfield.") and not is_traced(found):
        _try_weights(found)
        _TRIED.add(type(found))
    return found


_TRIED: WeakSet[type] = WeakSet()
"""Classes outside of the package whose weights were tried."""
_SCORES, _ALONG = np.array([0.9, -0.4, 0.35, 0.15, -1.2]), np.array([0.6, -0.3, -0.5, 0.4, 0.2])


def _try_weights(separation: Separation) -> None:
    """Try the weights against the slope of the potential at a few scores: energies would rise without a reason."""
    step = 1e-2 * _ALONG
    with jax.ensure_compile_time_eval():
        up, down, weights = (
            np.asarray(value, float)
            for value in (
                separation.potential(jnp.asarray(_SCORES + step)),
                separation.potential(jnp.asarray(_SCORES - step)),
                separation.weights(jnp.asarray(_SCORES)),
            )
        )
    with np.errstate(invalid="ignore"):  # NaN where the scores lie outside of every support, which is no slope
        slope, told = float(up - down) / 2e-2, float(weights @ _ALONG)
    if abs(slope - told) > 1e-2 * (1 + abs(slope)):
        raise ValueError(
            f"weights of {type(separation).__name__} must be the gradient of its potential, got the slope {told:.4g} "
            f"where that of the potential is {slope:.4g}"
        )


def find(spec: str) -> Separation:
    """Separation by "name" or "name:number": `softmax`, `entmax:1.5`, `top_k:8`, `rectified:2`.

    Raises:
        ValueError: an unknown name, a number where none may be, no number after the colon, or one out of range.
    """
    return _TABLE.find(spec)

"""Hopfield associative memory in JAX: a memory is a similarity, a separation and a space; everything else follows."""

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

import hopfield._door as _door
from hopfield import attention, memories, metrics, patterns, separations, similarities, spaces
from hopfield.couplings import Couplings, hebb_couplings
from hopfield.dynamics import Retrieval, fixed_point, retrieve, trajectory
from hopfield.dynamics.heat_bath import glauber
from hopfield.memory import Memory
from hopfield.networks.attractors import find_attractors

if TYPE_CHECKING:
    from collections.abc import Callable

    from hopfield import couplings as couplings
    from hopfield import disturbances as disturbances
    from hopfield import dynamics as dynamics
    from hopfield import fisher as fisher
    from hopfield import geometry as geometry
    from hopfield import graphs as graphs
    from hopfield import large as large
    from hopfield import layers as layers
    from hopfield import memory as memory
    from hopfield import networks as networks
    from hopfield import observables as observables
    from hopfield import optim as optim
    from hopfield import outside as outside
    from hopfield import packed as packed
    from hopfield import plots as plots
    from hopfield import theory as theory

    capacity: Callable[..., Any]
    measure: Callable[..., Any]
    open_run: Callable[..., Any]
    sweep: Callable[..., Any]

__version__ = "0.1.0"

__all__ = [
    "Couplings",
    "Memory",
    "Retrieval",
    "attention",
    "find_attractors",
    "fixed_point",
    "glauber",
    "hebb_couplings",
    "layers",
    "memories",
    "metrics",
    "patterns",
    "retrieve",
    "separations",
    "similarities",
    "spaces",
    "trajectory",
]


def _modules() -> set[str]:
    """Names of the public modules of this package."""
    return {module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")}


if not TYPE_CHECKING:  # where types are checked, the modules are those imported above and another name is a mistake

    def __getattr__(name: str) -> Any:
        """A public module or a door to the experiments, imported when it is first asked for."""
        if name in _modules():
            return importlib.import_module(f"{__name__}.{name}")
        if name in _door.PYTHON:
            return _door.opened(name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(
        {*__all__, *_modules() - {"disturbances", "outside", "packed"}, *(() if _door.lacking() else _door.PYTHON)}
    )

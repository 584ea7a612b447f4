"""Hopfield associative memory in JAX: a memory is a similarity, a separation and a space; everything else follows."""

from hopfield import attention, layers, metrics, patterns, separations, similarities, spaces
from hopfield.couplings import Couplings, hebb_couplings
from hopfield.dynamics import Retrieval, fixed_point, retrieve, trajectory
from hopfield.dynamics.heat_bath import glauber
from hopfield.memories import find as find_memory
from hopfield.memories import names as memory_names
from hopfield.memory import Memory

__version__ = "0.1.0"

__all__ = [
    "Couplings",
    "Memory",
    "Retrieval",
    "attention",
    "find_memory",
    "fixed_point",
    "glauber",
    "hebb_couplings",
    "layers",
    "memory_names",
    "metrics",
    "patterns",
    "retrieve",
    "separations",
    "similarities",
    "spaces",
    "trajectory",
]

"""Hopfield associative memory in JAX: a memory is a similarity, a separation and a space; everything else follows."""

from hopfield.dynamics import Retrieval, fixed_point, retrieve, trajectory
from hopfield.memories import find as find_memory
from hopfield.memories import names as memory_names
from hopfield.memory import Couplings, Memory, hebb_couplings
from hopfield.sweeps import glauber

__version__ = "0.1.0"

__all__ = [
    "Couplings",
    "Memory",
    "Retrieval",
    "find_memory",
    "fixed_point",
    "glauber",
    "hebb_couplings",
    "memory_names",
    "retrieve",
    "trajectory",
]

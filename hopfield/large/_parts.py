"""Parts of a memory, as the passes over its patterns see them."""

from typing import Any, Protocol

from jaxtyping import Array

from hopfield._arguments import shown
from hopfield._pytrees import Node
from hopfield.separations import Separation
from hopfield.similarities import Similarity
from hopfield.spaces import Space


class Parts(Protocol):
    """The parts of a `hopfield.Memory`."""

    @property
    def patterns(self) -> Any:
        """[M, N], an array or a source."""
        ...

    @property
    def values(self) -> Any:
        """Values that are read out [M, V], None for the patterns."""
        ...

    @property
    def mask(self) -> Any:
        """Patterns in use [M], None for all."""
        ...

    @property
    def beta(self) -> Array:
        """Inverse temperature."""
        ...

    @property
    def similarity(self) -> Similarity:
        """Comparison of states with patterns."""
        ...

    @property
    def separation(self) -> Separation:
        """Function that turns scores into weights."""
        ...

    @property
    def space(self) -> Space:
        """Space of the states."""
        ...


def is_memory(value: Any) -> bool:
    """True if a value is a `hopfield.Memory`, which is built upon this package."""
    return isinstance(value, Node) and hasattr(value, "similarity") and hasattr(value, "patterns")


def as_parts(memory: Any) -> Parts:
    """The memory, unchanged. Raises TypeError for anything else."""
    if not is_memory(memory):
        raise TypeError(f"memory must be a Memory, got {shown(memory)}")
    return memory

"""Diagrams of memories: one file each, which holds a `Diagram` by the name DIAGRAM.

Its options are a group of that name in `config`, which is read without JAX, and its name is one of MEMORIES there.
"""

from experiments.phase_diagram.diagrams import classical, modern
from experiments.phase_diagram.diagrams.diagram import FROZEN, REGIMES, Diagram, Structure

__all__ = ["FROZEN", "REGIMES", "Diagram", "Program", "of_memory"]


def of_memory(memory: str) -> Diagram:
    """The diagram of a memory."""
    return {"classical": classical.DIAGRAM, "modern": modern.DIAGRAM}[memory]


class Program(Structure):
    """Structure of a compiled measurement, with the cost of its memory."""

    __slots__ = ()

    @property
    def cost(self) -> float:
        """Rough multiplications of one draw."""
        return of_memory(self.memory).cost(self)

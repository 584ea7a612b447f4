"""Diagram of a memory: what is measured of one, and its theory."""

import abc
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np

REGIMES = ("retrieval", "other_pattern", "mixture", "disorder")
"""Holders of a state: the target; another pattern; none alone but an order (spin glass, metastable mixture); none."""
FROZEN = 0.1
"""Self-overlap of two time averages from which spins count as frozen; 0.13 where retrieval ends at M/N = 0.001."""


class Structure(NamedTuple):
    """Structure of a compiled measurement: the values that select its program. All others are traced."""

    memory: str
    neurons: int
    padding: int
    queries: int
    temperatures: int
    """How many temperatures one draw of patterns is measured at."""
    burn_in: int
    sweeps: int
    max_steps: int


class Diagram(abc.ABC):
    """Diagram of one memory: axes of its map, over T if it does not say otherwise, its measurement, theory and words.

    Attributes:
        words: names of REGIMES, in their order.
        xlabel, ylabel, yscale: labels of the axes of the map, and scale of the vertical one.
        theory: what its lines hold for.
    """

    words: ClassVar[tuple[str, ...]]
    xlabel: ClassVar[str]
    ylabel: ClassVar[str] = "temperature $T$"
    yscale: ClassVar[str] = "linear"
    theory: ClassVar[str]

    def temperatures(self, area: Any, lower: float, upper: float) -> tuple[float, float, float]:
        """Lowest, middle and highest T of a cell whose edges are given in units of the map `area`."""
        least, most = area.temperature
        cold, warm = (least + part * (most - least) for part in (lower, upper))
        return cold, (cold + warm) / 2, warm

    def edges(self, cold: Any, warm: Any) -> tuple:
        """Lower and upper edge of a cell on its axis; lower edge and height on the scale on which cells are equal."""
        return cold, warm, cold, warm - cold

    @abc.abstractmethod
    def work(self, neurons: int, num_patterns: int, sweeps: int) -> int:
        """Rough multiplications of one query."""

    def cost(self, program: Structure) -> float:
        """Rough multiplications of one draw at all temperatures."""
        sweeps = program.burn_in + program.sweeps
        return program.temperatures * program.queries * self.work(program.neurons, program.padding, sweeps)

    @abc.abstractmethod
    def query(
        self, program: Structure, build: Callable, stored: Any, used: Any, key: Any
    ) -> Callable[[Any, Any], dict]:
        """Function (i, T) of one draw: where dynamics from pattern i end at T; `kind` is an index in REGIMES.

        Args:
            build: makes the memory of patterns, as `Blueprint.build` does.
            stored, used: patterns [padding, N], and which of them count.
            key: random key of the draw, the same at all temperatures.
        """

    @abc.abstractmethod
    def retrieves(self, neurons: int, loads: np.ndarray, temperatures: np.ndarray) -> np.ndarray:
        """True where theory has a retrieval state at rest."""

    @abc.abstractmethod
    def lines(self, end: str, loads: np.ndarray, heights: np.ndarray, neurons: int) -> list[tuple]:
        """Lines of theory for states `end` over values of both axes: loads, heights and label; numbers are a mark."""

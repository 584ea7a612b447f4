"""Options of the phase diagrams: the maps of both networks, and the curves of the classical one."""

from dataclasses import dataclass
from typing import NamedTuple

from experiments import contract
from experiments.bounds import Use, both, includes
from experiments.columns import Column, shared
from experiments.contract import option

MEMORIES = ("classical", "modern")
STUDIES = MAP, CURVE = ("map", "curve")
CURVED = "classical"
"""Memory that is followed along curves."""
LENGTHS = ("burn_in", "sweeps", "max_steps")
"""Columns of how long dynamics run; those that a memory has not are 0."""


@dataclass
class Map:
    """Grid that a map is measured on."""

    neurons: int = option(100, "number of neurons N", least=2)
    load: list[float] = option([0.0, 0.2], "lowest and highest load", least=0)
    cells: list[int] = option([4, 4], "coarse cells along the load, and up", least=1, repeats=True)
    levels: int = option(1, "how often a cell is halved where its neighbours differ", least=0, most=8)
    samples: int = option(2, "draws of patterns in each cell", least=1)
    queries: int = option(2, "patterns started from in each sample", least=1)


@dataclass
class Classical(Map):
    """The map of the classical network over M/N and T."""

    temperature: list[float] = option([0.0, 1.6], "lowest and highest T", least=0)
    burn_in: int = option(20, "heat-bath sweeps before anything is averaged", least=0)
    sweeps: int = option(40, "sweeps averaged over, in two halves", least=2)


@dataclass
class Modern(Map):
    """The map of the modern network over ln M / N and β."""

    neurons: int = option(12, "number of neurons N", least=2)
    load: list[float] = option([0.1, 0.7], "lowest and highest load ln M / N", least=0)
    beta: list[float] = option([0.2, 3.0], "lowest and highest β; cells are equal in ln β", least=1e-6)
    max_steps: int = option(200, "updates of one retrieval at most", least=1)


@dataclass
class Curves:
    """Overlap of the classical network against temperature at fixed loads."""

    loads: list[float] = option([0.05], "loads M/N; [] for no curves", above=0)
    neurons: list[int] = option([100], "numbers of neurons N; one may return with other sweeps", least=2, repeats=True)
    samples: list[int] = option([6], "draws of patterns, one number for all N or one for each", least=1, repeats=True)
    temperatures: list[float] = option([0.2, 0.4, 0.6, 0.8], "temperatures", above=0)
    levels: int = option(1, "how often an interval is halved where retrieval is lost", least=0, most=8)
    queries: int = option(2, "patterns started from in each sample", least=1)
    burn_in: list[int] = option(
        [20], "sweeps before anything is averaged, one number or one for each N", least=0, repeats=True
    )
    sweeps: list[int] = option(
        [40], "sweeps averaged over, in two halves, one number or one for each N", least=2, repeats=True
    )


class Effort(NamedTuple):
    """Effort that the curves of one size are measured with."""

    neurons: int
    samples: int
    burn_in: int
    sweeps: int


@dataclass
class Config(contract.Config):
    """Options of the phase diagrams; the defaults are smoke scale."""

    memories: list[str] = option([*MEMORIES], "classical, modern or both", among=MEMORIES, nonempty=True, axis=True)
    studies: list[str] = option(
        [*STUDIES], "map, curve (of the classical network) or both", among=STUDIES, nonempty=True, axis=True
    )
    classical: Classical = option(
        Classical, used_when=both(includes("memories", "classical"), includes("studies", MAP)), axis=True
    )
    modern: Modern = option(Modern, used_when=both(includes("memories", "modern"), includes("studies", MAP)), axis=True)
    curves: Curves = option(
        Curves,
        used_when=both(
            both(includes("memories", CURVED), includes("studies", CURVE)),
            Use("curves.loads is not empty", lambda config: bool(config.curves.loads)),
        ),
        axis=True,
    )

    def __post_init__(self) -> None:
        contract.Config.__post_init__(self)
        for name in MEMORIES:
            area = getattr(self, name)
            _range(f"{name}.load", area.load)
            if len(area.cells) != 2:
                raise ValueError(f"{name}.cells must be two positive integers, got {area.cells}")
        _check_sweeps("classical", self.classical.sweeps)
        _range("classical.temperature", self.classical.temperature)
        _range("modern.beta", self.modern.beta)
        _check_curves(self.curves)


def _range(name: str, ends: list[float]) -> None:
    if len(ends) != 2 or not ends[0] < ends[1]:
        raise ValueError(f"{name} must be two ascending numbers, got {ends}")


def _check_sweeps(name: str, sweeps: int) -> None:
    if sweeps % 2:
        raise ValueError(f"{name}.sweeps must be even, got {sweeps}")


def efforts(curves: Curves) -> list[Effort]:
    """One effort for each entry of `neurons`. A single number of samples, burn-in or sweeps serves all sizes."""
    columns = [curves.neurons]
    for name in ("samples", "burn_in", "sweeps"):
        values = getattr(curves, name)
        if len(values) not in (1, len(curves.neurons)):
            raise ValueError(f"curves.{name} must be one number, or one for each of neurons, got {values}")
        columns.append(values * len(curves.neurons) if len(values) == 1 else values)
    return [Effort(*values) for values in zip(*columns, strict=True)]


def _check_curves(curves: Curves) -> None:
    found = efforts(curves)
    for effort in found:
        _check_sweeps("curves", effort.sweeps)
    if len({effort._replace(samples=0) for effort in found}) < len(found):
        raise ValueError(f"curves.neurons must return with other sweeps or not at all, got {curves.neurons}")
    if curves.loads and not (curves.neurons and curves.temperatures):
        raise ValueError("curves must have neurons and temperatures where they have loads, got an empty list")
    for size in curves.neurons:
        if max([*curves.loads, 0]) * size**2 > 2**28:
            raise ValueError(f"curves.loads must give N={size} fewer than 2^28 / N patterns, got {max(curves.loads):g}")


COLUMNS = shared(
    "memory",
    "neurons",
    "patterns",
    "temperature",
    "queries",
    "max_steps",
    "sample",
    "load",
    "beta",
    "step_limit",
) | {
    "study": Column("map, or curve against T", kind=str),
    "asked": Column("load that was asked for, from which M is rounded", "as load"),
    "load_low": Column("lower edge of the cell in load", "as load"),
    "load_high": Column("upper edge of the cell in load", "as load"),
    "temperature_low": Column("lower edge of the cell in temperature", "scores"),
    "temperature_high": Column("upper edge of the cell in temperature", "scores"),
    "level": Column("how often the cell was cut", "count", kind=int),
    "column": Column("column of the cell in its map", kind=int),
    "row": Column("row of the cell in its map", kind=int),
    "burn_in": Column("sweeps before averages are taken", "sweeps", kind=int),
    "sweeps": Column("sweeps over which averages are taken", "sweeps", kind=int),
    "retrieval": Column("queries that end held by the target", "count of queries", kind=int),
    "other_pattern": Column("queries that end held by another single pattern", "count of queries", kind=int),
    "mixture": Column("queries that end ordered without a single pattern", "count of queries", kind=int),
    "disorder": Column("queries that end not ordered", "count of queries", kind=int),
    "overlap": Column("mean overlap m, of spins averaged over the sweeps, of the modern network at its end", "−1 to 1"),
    "self_overlap": Column("overlap q of two time averages", "−1 to 1"),
    "drift": Column("change of the overlap m between the halves of the sweeps"),
}

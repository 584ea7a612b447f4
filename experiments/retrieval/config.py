"""Options of retrieval against β: scans over memories, ensembles, sizes and inverse temperatures."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from experiments import contract
from experiments.bounds import decided_by
from experiments.columns import Column, shared
from experiments.contract import Smoke, grid_axis, option
from experiments.shared import precedence


@dataclass
class Scan:
    """Scan of all combinations of the lists; null takes the common value."""

    memories: list[str] | None = option(
        Smoke(("modern",)),
        "memories with weights over patterns, each name or name:parameter as in sparse:1.5",
        meaning="memory",
        nonempty=True,
        axis=True,
    )
    ensembles: list[str] | None = option(
        Smoke(("sphere",)),
        "patterns of norm 1: sphere, gaussian, spins; digits, photographs, files (.npy, .npz, .csv), centred first;"
        " generated: spins, never stored",
        meaning="ensemble",
        nonempty=True,
        axis=True,
    )
    neurons: list[int] | None = grid_axis(None, "numbers of neurons N of random patterns", least=2)
    patterns: list[int] | None = grid_axis(Smoke((30, 100)), "numbers of stored patterns M", least=2, most=2**40)
    corruption: list[Any] | None = option(
        Smoke((0.0,)),
        "starts: 0, or flip:, mask:, lower:, noise:amount (noise in units of rms components)",
        meaning="corruption",
        nonempty=True,
        axis=True,
    )
    kappas: list[float] | None = option(
        Smoke((1.0, 3.0, 20.0)),
        "inverse temperatures κ = β‖ξ‖², which is β of patterns of norm 1 and N times that of spins",
        above=0,
        used_when=decided_by("a memory has an inverse temperature", "has_beta"),
        extends=True,
    )
    around: list[float] | None = option(
        Smoke((0.9, 0.97, 1.0, 1.03, 1.1)),
        "further κ: multiples of the two critical κ of theory, where there is one",
        above=0,
        used_when=decided_by("there is theory of a memory on an ensemble", "has_theory"),
        extends=True,
    )
    samples: int | None = option(Smoke(8), "draws of patterns at each point", least=1, extends=True)
    queries: int | None = option(Smoke(4), "patterns queried in each sample", least=1, axis=True)
    max_steps: int | None = option(Smoke(1000), "updates of one query at most", least=1, axis=True)


@dataclass(frozen=True)
class FullScan:
    """Full scan that is measured: a `Scan` with all values given, except that `neurons` may be null."""

    memories: Sequence[str]
    ensembles: Sequence[str]
    neurons: Sequence[int] | None
    patterns: Sequence[int]
    corruption: Sequence[Any]
    kappas: Sequence[float]
    around: Sequence[float]
    samples: int
    queries: int
    max_steps: int


@dataclass
class Config(Scan, contract.Config):
    """Options of the retrieval experiment. A common value, given on top, beats the values of parts."""

    part: dict[str, Scan] = option(
        {},
        "scans of their own by name: part.NAME.samples=4, a further one +part={NAME:{patterns:[10]}}",
        entries_of="parts",
        axis=True,
    )
    parts: list[str] | None = option(
        None, "names of the scans to measure, one after another (null: all of them)", nonempty=True, axis=True
    )

    def __post_init__(self) -> None:
        contract.Config.__post_init__(self)
        for name in self.parts or []:
            if name not in self.part:
                raise ValueError(f"parts must be among {', '.join(self.part) or 'those of part (none)'}, got {name!r}")


def scans(config: Config) -> list[FullScan]:
    """Every chosen part in full: the common value if given, else its own, else smoke scale."""
    chosen = config.part if config.parts is None else config.parts
    parts = [config.part[name] for name in chosen] or [Scan()]
    return [precedence.full_options(FullScan, Scan, config, part) for part in parts]


COLUMNS = shared(
    "memory",
    "ensemble",
    "neurons",
    "patterns",
    "corruption",
    "kappa",
    "sample",
    "queries",
    "max_steps",
    "cycles",
    "entropy",
    "overlap",
    "step_limit",
    "steps",
) | {
    "start_weight": Column("mean weight on the pattern at the start, by which the first update is made", "0 to 1"),
    "first_weight": Column("mean weight on the pattern after one update", "0 to 1"),
    "one_step_overlap": Column("mean overlap with the pattern after one update", "−1 to 1"),
    "target_weight": Column("mean weight on the own pattern at the end; no count, as it is in capacity", "0 to 1"),
    "success": Column(
        "queries that end with more than half of the weight on their pattern; converged_weight of capacity",
        "count of queries",
        kind=int,
    ),
    "overlap_kept": Column("mean overlap of the successes", "−1 to 1"),
    "entropy_kept": Column("mean entropy of the weights of the successes", "nats"),
    "target_weight_kept": Column("mean weight on the own pattern of the successes", "0 to 1"),
}

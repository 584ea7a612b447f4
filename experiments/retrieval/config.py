"""Options of retrieval against β: scans over memories, ensembles, sizes and inverse temperatures."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from experiments import contract
from experiments.bounds import judged
from experiments.contract import grid_axis, option


@dataclass
class Scan:
    """Scan of all combinations of the lists; null takes the common value."""

    memories: list[str] | None = option(
        None,
        "memories with weights over patterns, each name or name:parameter as in sparse:1.5",
        meaning="memory",
        nonempty=True,
        axis=True,
    )
    ensembles: list[str] | None = option(
        None,
        "patterns of norm 1: sphere, gaussian, spins; digits, photographs, files (.npy, .npz, .csv), centred first;"
        " generated: spins, never stored",
        meaning="ensemble",
        nonempty=True,
        axis=True,
    )
    neurons: list[int] | None = grid_axis(None, "numbers of neurons N of random patterns", least=2)
    patterns: list[int] | None = grid_axis(None, "numbers of stored patterns M", least=2, most=2**40)
    corruption: list[Any] | None = option(
        None,
        "starts: 0, or flip:, mask:, lower:, noise:amount (noise in units of rms components)",
        meaning="corruption",
        nonempty=True,
        axis=True,
    )
    kappas: list[float] | None = option(
        None,
        "inverse temperatures κ = β‖ξ‖², which is β of patterns of norm 1 and N times that of spins",
        above=0,
        used_when=judged("a memory has an inverse temperature", "has_beta"),
        formerly="betas",
        extends=True,
    )
    around: list[float] | None = option(
        None,
        "further κ: multiples of the two critical κ of theory, where there is one",
        above=0,
        used_when=judged("there is theory of a memory on an ensemble", "has_theory"),
        extends=True,
    )
    samples: int | None = option(None, "draws of patterns at each point", least=1, extends=True)
    queries: int | None = option(None, "patterns queried in each draw", least=1, formerly="probes", axis=True)
    max_steps: int | None = option(None, "updates of one query at most", least=1, axis=True)


class FullScan(NamedTuple):
    """A Scan in full; the defaults are smoke scale."""

    memories: Sequence[str] = ("modern",)
    ensembles: Sequence[str] = ("sphere",)
    neurons: Sequence[int] | None = None
    patterns: Sequence[int] = (30, 100)
    corruption: Sequence[Any] = (0.0,)
    kappas: Sequence[float] = (1.0, 3.0, 20.0)
    around: Sequence[float] = (0.9, 0.97, 1.0, 1.03, 1.1)
    samples: int = 8
    queries: int = 4
    max_steps: int = 1000


@dataclass
class Config(Scan, contract.Config):
    """Options of the retrieval experiment. A common value, given on top, beats those of the parts."""

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
    chosen = config.part if config.parts is None else dict.fromkeys(config.parts)
    parts = [config.part[name] for name in chosen] or [Scan()]
    return [FullScan(**contract.first_given(FullScan._fields, config, part)) for part in parts]

"""Options of the basins of attraction, and the scale of every memory."""

from dataclasses import dataclass, field

from experiments import contract
from experiments.contract import about

DYNAMICS = ("asynchronous", "synchronous")


@dataclass
class Scale:
    """Scale that one memory is measured at."""

    neurons: list[int] = field(
        default_factory=lambda: [64], metadata=about("numbers of neurons N", least=2, nonempty=True, extends=True)
    )
    loads: list[float] = field(
        default_factory=lambda: [0.05, 0.15],
        metadata=about("loads, in the memory's own scaling", above=0, nonempty=True, extends=True),
    )
    samples: int = field(default=6, metadata=about("draws of patterns at each load", least=1, extends=True))
    queries: int = field(default=4, metadata=about("patterns queried in each draw", least=1, formerly="probes"))
    dynamics: list[str] | None = field(
        default=None,
        metadata=about("any of asynchronous (default on spins) and synchronous (default elsewhere)", among=DYNAMICS),
    )
    beta: float | None = field(default=None, metadata=about("inverse temperature, where the memory has one", above=0))
    near: float = field(
        default=0.8, metadata=about("overlap above which a state is near a pattern, from 0 to 1", above=0, below=1)
    )
    max_steps: int = field(default=50, metadata=about("updates or sweeps of one query at most", least=1))


@dataclass
class Config(contract.Config):
    """Options of the basins of attraction; the defaults are smoke scale."""

    memories: list[str] = field(
        default_factory=lambda: ["classical", "modern"],
        metadata=about(
            "memories, each name or name:parameter as in dense:4, sparse:1.5",
            nonempty=True,
            numbered=True,
            meaning="memory",
            axis=True,
        ),
    )
    overlaps: list[float] = field(
        default_factory=lambda: [0.1, 0.3, 0.5, 0.7, 0.9],
        metadata=about("initial overlaps, from 0 to 1", least=0, most=1, nonempty=True, extends=True),
    )
    per_memory: dict[str, Scale] = field(
        default_factory=dict,
        metadata=about("scales of single memories", numbered=True, meaning="memory", entries_of="memories", axis=True),
    )

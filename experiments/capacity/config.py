"""Options of the capacity experiment: what is measured, and the scale of every memory."""

from dataclasses import dataclass
from enum import Enum
from typing import Any

from experiments import contract
from experiments.bounds import Use, decided_by
from experiments.columns import Column, shared
from experiments.contract import Smoke, grid_axis, option
from experiments.shared.loads import check_by_size

DYNAMICS = ("asynchronous", "synchronous")


class Parity(Enum):
    """Numbers of patterns M that loads are rounded to, where fields are sums of M integers."""

    odd = "odd"
    even = "even"
    any = "any"


@dataclass
class Scale:
    """Scale that one memory is measured at, if it differs from the others. Null takes the common value."""

    neurons: list[int] | None = grid_axis(
        None,
        "numbers of neurons N of random patterns (null: two that suit the memory)",
        least=2,
        used_when=decided_by("ensembles has a random one", "takes_neurons"),
    )
    loads: list[float] | None = grid_axis(
        None,
        "loads, in the memory's own scaling (null: those across the fall of its queries, which is looked for)",
        above=0,
        used_when=Use("patterns is null", lambda config: config.patterns is None),
        goes_with="neurons",
    )
    patterns: list[int] | None = grid_axis(
        None,
        "numbers of patterns M, instead of loads",
        least=1,
        most=2**40,
        used_when=Use("loads is null", lambda config: config.loads is None),
        goes_with="neurons",
    )
    samples: Any = option(
        Smoke(40), "disorder samples at each point, or {size: samples} from that size on (null: 40)", extends=True
    )
    between: Any = option(
        Smoke({}),
        "{size: [lowest, highest]}, the loads that are measured from that size on (null: all of them)",
        extends=True,
        used_when=Use("patterns is null", lambda config: config.patterns is None),
    )
    queries: int | None = option(Smoke(8), "patterns queried in each sample (null: 8)", least=1, axis=True)
    dynamics: list[str] | None = option(
        None,
        "asynchronous or synchronous (null: asynchronous for spins that are stored, unless at ln M / N)",
        among=DYNAMICS,
        nonempty=True,
        axis=True,
    )
    corruption: list[Any] | None = option(
        Smoke((0.0,)),
        "starts: fraction of flipped spins, or flip:, mask:, lower:, noise:amount (null: 0.0)",
        meaning="corruption",
        nonempty=True,
        axis=True,
    )
    beta: float | None = option(
        None, "inverse temperature, where the memory has one (null: its own)", above=0, axis=True
    )
    max_steps: int | None = option(
        Smoke(100), "updates or sweeps of one retrieval at most (null: 100)", least=1, axis=True
    )
    parity: Parity | None = option(
        Smoke(Parity.odd),
        "M that loads are rounded to where fields are integers (classical, dense): odd unless given",
        used_when=decided_by("a memory with loads has fields that are integers (classical, dense)", "rounds"),
        axis=True,
    )

    def __post_init__(self) -> None:
        check_by_size(self.samples, self.between)


@dataclass
class Config(Scale, contract.Config):
    """Options of the capacity experiment. A common value, given on top, beats the memory's own scale."""

    memories: list[str] = option(
        ["classical", "exponential"],
        "memories, each name or name:parameter as in dense:4, sparse:1.5",
        meaning="memory",
        nonempty=True,
        axis=True,
    )
    per_memory: dict[str, Scale] = option(
        {},
        "scales of single memories, as in per_memory.dense:3.loads=[0.1,0.2]",
        meaning="memory",
        entries_of="memories",
        axis=True,
    )
    ensembles: list[str] = option(
        ["random"],
        "patterns: random, digits, photographs, .npy or .npz files; generated or mapped:file, not stored",
        meaning="ensemble",
        nonempty=True,
        axis=True,
    )
    clamp: bool = option(
        False,
        "hold the units that the corruption left untouched",
        used_when=decided_by("a start of corruption is flipped or hidden", "leaves_units"),
    )

    def __post_init__(self) -> None:
        contract.Config.__post_init__(self)
        Scale.__post_init__(self)


COLUMNS = shared(
    "memory",
    "dynamics",
    "neurons",
    "patterns",
    "corruption",
    "ensemble",
    "beta",
    "max_steps",
    "queries",
    "sample",
    "load",
    "overlap",
    "steps",
    "cycles",
    "step_limit",
) | {
    "parity": Column("whether M is odd or even, also where the option parity is any", kind=str),
    "retained": Column("queries that end with an overlap above 0.8", "count of queries", kind=int),
    "retained_0.7": Column("queries that end with an overlap above 0.7", "count of queries", kind=int),
    "retained_0.9": Column("queries that end with an overlap above 0.9", "count of queries", kind=int),
    "exact": Column(
        "queries that end in the pattern itself; of real states within 1 % of its norm", "count of queries", kind=int
    ),
    "fixed_point": Column(
        "queries whose clean pattern one update leaves where it is; of real states to 1 % of its norm",
        "count of queries",
        kind=int,
    ),
    "one_step_error": Column("share of wrong spins after one update, ½(1 − overlap); empty for real states", "0 to 1"),
    "target_weight": Column(
        "queries whose own pattern has more than half of the weight at the start", "count of queries", kind=int
    ),
    "converged_weight": Column(
        "queries whose own pattern has more than half of the weight at the end; success of retrieval",
        "count of queries",
        kind=int,
    ),
    "overlap_retained": Column("mean overlap of the retained", "−1 to 1"),
}

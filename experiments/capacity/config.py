"""Options of the capacity experiment: what is measured, and the scale of every memory."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from experiments import contract
from experiments.bounds import judged
from experiments.contract import about

DYNAMICS = ("asynchronous", "synchronous")


class Parity(Enum):
    """Numbers of patterns M that loads are rounded to, where fields are sums of M integers."""

    odd = "odd"
    even = "even"
    any = "any"


@dataclass
class Scale:
    """Scale that one memory is measured at, where it differs from the others; null takes the common value."""

    neurons: list[int] | None = field(
        default=None, metadata=about("numbers of neurons N of random patterns", least=2, nonempty=True, extends=True)
    )
    loads: list[float] | None = field(
        default=None, metadata=about("loads, in the memory's own scaling", above=0, nonempty=True, extends=True)
    )
    patterns: list[int] | None = field(
        default=None,
        metadata=about(
            "numbers of patterns M, instead of loads",
            least=1,
            most=2**40,
            nonempty=True,
            extends=True,
            formerly="stored",
        ),
    )
    samples: Any = field(
        default=None,
        metadata=about("disorder samples at each point, or {size: samples} from that size on", extends=True),
    )
    queries: int | None = field(
        default=None, metadata=about("patterns queried in each sample", least=1, formerly="probes", axis=True)
    )
    dynamics: list[str] | None = field(
        default=None, metadata=about(f"any of {', '.join(DYNAMICS)}", among=DYNAMICS, nonempty=True, axis=True)
    )
    corruption: list[Any] | None = field(
        default=None,
        metadata=about(
            "starts: fraction of flipped spins, or flip:, mask:, lower:, noise:amount",
            nonempty=True,
            meaning="corruption",
            axis=True,
        ),
    )
    beta: float | None = field(
        default=None, metadata=about("inverse temperature, where the memory has one", above=0, axis=True)
    )
    max_steps: int | None = field(
        default=None, metadata=about("updates or sweeps of one retrieval at most", least=1, axis=True)
    )
    parity: Parity | None = field(
        default=None,
        metadata=about(
            "M that loads are rounded to where fields are integers (classical, dense): odd unless given",
            used_when=judged("a memory with loads has fields that are integers (classical, dense)", "rounds"),
            axis=True,
        ),
    )


@dataclass
class Config(Scale, contract.Config):
    """Options of the capacity experiment. A common value, given on top, beats the memory's own scale."""

    memories: list[str] = field(
        default_factory=lambda: ["classical", "exponential"],
        metadata=about(
            "memories, each name or name:parameter as in dense:4, sparse:1.5",
            nonempty=True,
            numbered=True,
            meaning="memory",
            axis=True,
        ),
    )
    per_memory: dict[str, Scale] = field(
        default_factory=dict,
        metadata=about(
            "scales of single memories, as in per_memory.dense:3.loads=[0.1,0.2]",
            numbered=True,
            meaning="memory",
            entries_of="memories",
            axis=True,
        ),
    )
    ensembles: list[str] = field(
        default_factory=lambda: ["random"],
        metadata=about(
            "patterns: random, digits, photographs, .npy or .npz files; generated or mapped:file, not stored",
            nonempty=True,
            meaning="ensemble",
            formerly="sources",
            axis=True,
        ),
    )
    clamp: bool = field(
        default=False,
        metadata=about(
            "hold the units that the corruption left untouched",
            used_when=judged("a start of corruption is flipped or hidden", "leaves_units"),
        ),
    )

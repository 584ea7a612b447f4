"""Options of the entropy experiment."""

from dataclasses import dataclass, field
from typing import Any

from experiments import contract
from experiments.bounds import judged
from experiments.contract import about

ROUNDING = 1e-9
"""A growth of the entropy below this, in nats, is no growth."""


@dataclass
class Config(contract.Config):
    """Options of the entropy experiment."""

    memories: list[str] = field(
        default_factory=lambda: ["modern"],
        metadata=about(
            "memories with normalised weights on real states: modern, sparse:1.5, sparse",
            nonempty=True,
            numbered=True,
            meaning="memory",
            axis=True,
        ),
    )
    ensembles: list[str] = field(
        default_factory=lambda: ["sphere"],
        metadata=about(
            "patterns, scaled to norm 1: sphere, gaussian, spins, digits, photographs, or .npy or .npz files",
            nonempty=True,
            meaning="ensemble",
            axis=True,
        ),
    )
    neurons: int = field(
        default=16,
        metadata=about(
            "number of neurons N of random patterns",
            least=2,
            used_when=judged("ensembles has a random one", "random"),
            axis=True,
        ),
    )
    patterns: int = field(default=64, metadata=about("number of stored patterns M", least=3, axis=True))
    corruption: list[Any] = field(
        default_factory=lambda: [0.0, "lower:0.5"],
        metadata=about(
            "starts: 0, or flip:, mask:, lower:, noise:amount (noise in units of rms components)",
            nonempty=True,
            meaning="corruption",
            axis=True,
        ),
    )
    ratios: list[float] = field(
        default_factory=lambda: [0.5, 1.1, 2.0],
        metadata=about(
            "β at which retrievals are followed, in units of the critical β of the sphere",
            above=0,
            nonempty=True,
            extends=True,
        ),
    )
    fixed: list[float] = field(
        default_factory=lambda: [0.1, 0.3, 4.0],
        metadata=about("further β, same units, at which the query is looked at where it starts", above=0, axis=True),
    )
    steps: int = field(default=6, metadata=about("updates followed", least=1, axis=True))
    samples: int = field(default=3, metadata=about("draws of patterns", least=1))
    queries: int = field(default=8, metadata=about("patterns queried in each draw", least=1))
    band: float = field(default=0.8, metadata=about("share of the queries between _low and _high", above=0, below=1))
    rise: float = field(
        default=0.01, metadata=about("growth of the entropy in one step, in nats, that counts", least=ROUNDING)
    )

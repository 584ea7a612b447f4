"""Options of retrievals told step by step."""

from dataclasses import dataclass, field

from experiments import contract
from experiments.contract import about

SIDE = 8
"""Pixels along a side of a digit."""


@dataclass
class Config(contract.Config):
    """Options of retrievals told step by step; the defaults are smoke scale."""

    memories: list[str] = field(
        default_factory=lambda: ["classical", "modern"],
        metadata=about(
            "memories that are told of, on spins or real", nonempty=True, numbered=True, meaning="memory", extends=True
        ),
    )
    beta: list[float] = field(
        default_factory=lambda: [0.03, 0.5],
        metadata=about("inverse temperatures of memories that have one", above=0, nonempty=True, extends=True),
    )
    patterns: int = field(default=10, metadata=about("stored digits, the first ones: 0 to 9 in turn", least=3, most=20))
    targets: list[int] = field(
        default_factory=lambda: [3, 8],
        metadata=about("stored digits that queries start from, counted from 0", least=0, nonempty=True, extends=True),
    )
    corruption: list[str] = field(
        default_factory=lambda: ["lower:0.5"],
        metadata=about(
            "starts: flip:, mask:, lower: or noise:amount", nonempty=True, meaning="corruption", extends=True
        ),
    )
    steps: int = field(default=12, metadata=about("updates, or sweeps of spins, followed", least=1, extends=True))
    plane: list[int] = field(
        default_factory=lambda: [3, 8],
        metadata=about("two stored digits of which a memory is drawn as a landscape", least=0, axis=True),
    )
    starts: int = field(default=8, metadata=about("retrievals drawn in that landscape", least=1, extends=True))

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.plane) != 2:
            raise ValueError(f"plane must be two stored digits, got {self.plane}")
        for name in ("targets", "plane"):
            if max(getattr(self, name)) >= self.patterns:
                raise ValueError(f"{name} must be below patterns = {self.patterns}, got {getattr(self, name)}")

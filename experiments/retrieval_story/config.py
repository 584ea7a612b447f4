"""Options of retrievals shown step by step."""

import base64
from dataclasses import dataclass

import numpy as np
from jax.typing import ArrayLike

from experiments import contract
from experiments.bounds import decided_by, includes
from experiments.columns import Column, shared
from experiments.contract import grid_axis, option
from experiments.figures import labels

MODERN = "modern"
"""The memory that is drawn as a landscape too."""
SIDE = 8
"""Pixels along a side of a digit."""


@dataclass
class Config(contract.Config):
    """Options of retrievals shown step by step; the defaults are smoke scale."""

    memories: list[str] = grid_axis(
        ["classical", "modern"], "memories that are shown, on spins or real", meaning="memory"
    )
    betas: list[float] = grid_axis(
        [0.03, 0.5],
        "inverse temperatures of memories that have one",
        above=0,
        used_when=decided_by("a memory has an inverse temperature", "has_beta"),
    )
    patterns: int = option(10, "stored digits, the first ones: 0 to 9 in turn", least=3, most=20)
    targets: list[int] = grid_axis([3, 8], "stored digits that queries start from, counted from 0", least=0)
    corruption: list[str] = grid_axis(
        ["lower:0.5"], "starts: flip:, mask:, lower: or noise:amount", meaning="corruption"
    )
    steps: int = option(12, "updates, or sweeps of spins, followed", least=1, extends=True)
    plane: list[int] = option(
        [3, 8],
        "two stored digits of which a modern memory is drawn as a landscape",
        least=0,
        axis=True,
        used_when=includes("memories", MODERN),
    )
    starts: int = option(
        8, "retrievals drawn in that landscape", least=1, extends=True, used_when=includes("memories", MODERN)
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.plane) != 2:
            raise ValueError(f"plane must be two stored digits, got {self.plane}")
        for name in ("targets", "plane") if MODERN in self.memories else ("targets",):
            if max(getattr(self, name)) >= self.patterns:
                raise ValueError(f"{name} must be below patterns = {self.patterns}, got {getattr(self, name)}")


COLUMNS = shared("memory", "beta", "corruption", "step", "energy") | {
    "part": Column("story, stored or plane", kind=str),
    "target": Column("digit that the start was made from", kind=int),
    "state": Column("the state: base64 of half-precision numbers", kind=str),
    "weights": Column("weights of the patterns in the next field: base64 of half-precision numbers", kind=str),
    "entropy": Column("−Σ p ln p of the weights of the patterns in the next field", "nats"),
    "overlap": Column("overlap with the pattern that the start was made from", "−1 to 1"),
    "other": Column("largest overlap with another pattern", "−1 to 1"),
    "step_size": Column("length of the step that follows, in units of a pattern's length"),
}


PLANE = "plane"
STORED = "stored"
STORY = "story"


def encode(numbers: ArrayLike) -> str:
    """Numbers as text: base64 of half precision, in which spins are exact."""
    return base64.b64encode(np.asarray(numbers, "<f2").tobytes()).decode("ascii")


def decode(text: str) -> np.ndarray:
    """The numbers of a text [N]."""
    return np.frombuffer(base64.b64decode(text), "<f2").astype(np.float64)


def label(memory: str, beta: float) -> str:
    """A memory and its β in the words of figures; a memory without one has NaN."""
    name = labels.memory(memory)
    return name if beta != beta else rf"{name}, $\beta={beta:g}$"


def plain_name(memory: str, beta: float) -> str:
    """Name of a memory and its β without symbols."""
    return memory if beta != beta else f"{memory}, β = {beta:g}"

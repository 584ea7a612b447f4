"""States as text of a table, and what a memory with its β is called."""

import base64

import numpy as np
from jax.typing import ArrayLike

from experiments.figures import labels

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

"""Exact reads of a memory over stored, generated or memory-mapped patterns in blocks, on one device or many."""

from hopfield.large._passes import while_outside
from hopfield.large.reading import (
    Reading,
    Statistics,
    block_size,
    energy,
    local_field,
    moments,
    read,
    scores,
    statistics,
)

__all__ = [
    "Reading",
    "Statistics",
    "block_size",
    "energy",
    "local_field",
    "moments",
    "read",
    "scores",
    "statistics",
    "while_outside",
]

"""Exact reads of a memory over stored, generated or memory-mapped patterns in blocks, on one device or many.

By module:

    reading           energy, update and statistics of the weights from passes over blocks; exported here
    counts            spin patterns counted by overlap with a query, and by bit: every answer from one pass
    mesh              patterns and queries spread over several devices
    overlap_sampling  one step of exponential memories with e^(αN) random patterns, from shells of overlap
"""

from hopfield._arguments import public
from hopfield.large import counts, mesh, overlap_sampling
from hopfield.large._passes import while_outside
from hopfield.large.reading import (
    Reading,
    ReadStatistics,
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
    "ReadStatistics",
    "Reading",
    "Statistics",
    "block_size",
    "counts",
    "energy",
    "local_field",
    "mesh",
    "moments",
    "overlap_sampling",
    "read",
    "scores",
    "statistics",
    "while_outside",
]
__dir__ = public(__all__)

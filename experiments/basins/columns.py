"""Columns of the table of basins, each with its meaning and unit."""

from experiments.columns import Column, shared

COLUMNS = shared(
    "memory",
    "dynamics",
    "neurons",
    "patterns",
    "beta",
    "max_steps",
    "queries",
    "sample",
    "load",
    "cycles",
    "overlap",
    "step_limit",
    "steps",
) | {
    "near": Column("overlap above which an end counts as near a pattern", "−1 to 1"),
    "initial_overlap": Column("overlap with the pattern that was asked for at the start", "−1 to 1"),
    "start_overlap": Column("overlap at the start, which whole spins meet to 1/N", "−1 to 1"),
    "right": Column("queries that end near their own pattern", "count of queries", kind=int),
    "some": Column("queries that end near any pattern", "count of queries", kind=int),
    "reversed": Column("queries that end near no pattern but near the negative of one", "count of queries", kind=int),
}

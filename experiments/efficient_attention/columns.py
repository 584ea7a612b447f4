"""Columns of the table of efficient_attention, each with its meaning and unit."""

from experiments.columns import Column, shared

COLUMNS = shared("method", "seconds") | {
    "pass": Column("forward or backward", kind=str),
    "length": Column("positions of the sequence", "count", kind=int),
    "megabytes": Column(
        "memory: the larger of what XLA sets aside beyond inputs and outputs, and of what the process grows by", "MB"
    ),
    "error": Column("deviation from dense attention, relative to it, in the Frobenius norm"),
}

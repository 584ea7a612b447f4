"""Columns of the table of thermal, each with its meaning and unit."""

from experiments.columns import Column, shared

COLUMNS = shared("neurons", "patterns", "load", "temperature", "sample") | {
    "kernel": Column("lse, the log of a sum of exponentials, or lsr, of rectified overlaps", kind=str),
    "overlap": Column("mean of x·ξ/N over chains and samples", "−1 to 1"),
    "energy": Column("mean energy per neuron, −1 at a pattern that is alone"),
    "rhat": Column("R̂ of the overlap, of chains that began in the pattern", "at least about 1"),
    "effective": Column("effective number of samples of the overlap", "count"),
    "one_pattern": Column("mean overlap with a pattern that is stored alone, exact at this N", "0 to 1"),
    "critical": Column("load to which theory retrieves: of lse the thermodynamic one, of lsr that of its support"),
    "stable": Column("load to which lse has a retrieval state; empty of lsr"),
    "accepted": Column("share of Langevin steps accepted", "0 to 1"),
}

"""Columns of the table of overlap_dynamics, each with its meaning and unit."""

from experiments.columns import Column, shared

COLUMNS = shared("neurons", "patterns", "load", "sample", "step", "queries") | {
    "degree": Column("degree of the memory; 2 is the classical network", kind=int),
    "around": Column("load over that of the last retrieval"),
    "overlap": Column("overlap asked for at the start, which whole spins meet to 1/N", "−1 to 1"),
    "final": Column("mean overlap of the queries after step steps", "−1 to 1"),
    "retained": Column("queries with an overlap above 0.8 after step steps", "count of queries", kind=int),
}

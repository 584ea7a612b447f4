"""Columns of the table of sequences, each with its meaning and unit."""

from experiments.columns import Column, shared

COLUMNS = shared("neurons", "patterns", "sample") | {
    "degree": Column("degree d of the rule f(x) = x^d, or exponential", kind=str),
    "learning": Column("rule by which the sequence is learned", kind=str),
    "correlation": Column("correlation of any two patterns", "−1 to 1"),
    "bit_error": Column("share of wrong spins over all transitions", "0 to 1"),
    "overlap": Column("overlap with the first pattern after following the sequence once around", "−1 to 1"),
    "right": Column("transitions of which every spin is right", "count of patterns", kind=int),
    "whole": Column("1 if all transitions are right, 0 otherwise", kind=int),
}

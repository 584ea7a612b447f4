"""Columns of the table of relaxation, each with its meaning and unit."""

from experiments.columns import Column, shared

COLUMNS = shared("temperature", "neurons", "patterns", "load", "sample") | {
    "degree": Column("degree of the memory; 2 is the classical network", kind=int),
    "around": Column("load over the replica-symmetric spinodal one at T"),
    "query": Column("number of the pattern started from", kind=int),
    "observed": Column("heat-bath sweeps that were made", "sweeps", kind=int),
    "exposure": Column("sweeps until the overlap fell below ½, or all that were made", "sweeps", kind=int),
    "left": Column("1 if the overlap fell below ½, 0 otherwise", kind=int),
    "mean": Column("mean overlap after burn_in sweeps, of a start that never left", "−1 to 1"),
    "time": Column("integrated autocorrelation time of the overlap, of a start that never left", "sweeps"),
    "window": Column("lag that the autocorrelation was summed to", "sweeps"),
}

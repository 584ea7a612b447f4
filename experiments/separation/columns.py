"""Columns of the table of separation, each with its meaning and unit."""

from experiments.columns import Column, shared

COLUMNS = shared(
    "ensemble", "patterns", "corruption", "dynamics", "similarity", "separation", "sample", "neurons", "queries"
) | {
    "sharpness_retrieved": Column("β that was tuned for retrieved, in units of the similarity's lead"),
    "sharpness_error": Column("β that was tuned for error, in units of the similarity's lead"),
    "retrieved": Column("queries that are both identified and close", "count of queries", kind=int),
    "identified": Column("queries nearer to their image than to any other", "count of queries", kind=int),
    "close": Column("queries whose error is at most threshold", "count of queries", kind=int),
    "error": Column("squared distance from the image asked for, in units of the mean squared distance of two images"),
}

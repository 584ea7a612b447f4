"""Columns of the table of capacity_learned, each with its meaning and unit."""

from experiments.columns import Column, shared

COLUMNS = shared(
    "task",
    "similarity",
    "metric",
    "separation",
    "dynamics",
    "optimiser",
    "data",
    "patterns",
    "sample",
    "entropy",
    "seconds",
    "beta",
) | {
    "draws": Column("draws of patterns that were learned from", "count", kind=int),
    "strength": Column("strength of the corruption"),
    "error": Column("squared error of the answer, in units of the mean squared distance of two patterns"),
    "identified": Column("share of queries nearer to their pattern than to any other", "0 to 1"),
    "rate": Column("learning rate that was chosen"),
    "further_error": Column("error on further draws, by which the rate was chosen"),
    "number": Column("number of the separation's family that was learned"),
    "cosine_identity": Column("cosine of the learned metric with the identity", "−1 to 1"),
    "cosine_whitening": Column(
        "cosine of the learned metric with the inverse second moment of the patterns", "−1 to 1"
    ),
    "cosine_matched": Column(
        "cosine of the learned metric with the inverse second moment of the corrupted patterns", "−1 to 1"
    ),
}

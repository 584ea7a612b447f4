"""Columns of the table of novelty, each with its meaning and unit."""

from experiments.columns import Column, shared

COLUMNS = shared("neurons", "patterns", "kappa", "sample") | {
    "overlap": Column("overlap of the corrupted patterns with the stored ones", "−1 to 1"),
    "auc": Column(
        "probability that a random vector leaves more weight over than a corrupted pattern, the ROC area",
        "0 to 1",
    ),
    "left_known": Column("mean weight left over for corrupted patterns", "0 to 1"),
    "left_novel": Column("mean weight left over for random vectors", "0 to 1"),
}

"""Columns of the table of capacity_features, each with its meaning and unit."""

from experiments.columns import Column, shared

COLUMNS = shared("neurons", "patterns", "beta", "sample") | {
    "map": Column("kind of random features", kind=str),
    "features": Column("number Y of random features", "count", kind=int),
    "squared_error": Column("squared error of the sum of kernels, relative to it, mean over queries"),
    "squared_log_error": Column(
        "squared error of βE, mean over queries; empty where the energy of one is not a number"
    ),
    "squared_distance": Column(
        "squared distance between the ends of the descents on both energies; empty where one is lost"
    ),
    "predicted": Column("relative error that the memory predicts of itself, without the patterns"),
    "failed": Column("share of queries whose energy is not a number", "0 to 1"),
    "lost": Column("share of queries whose end is not a number", "0 to 1"),
}

"""Columns of the table of capacity_asymptotic, each with its meaning and unit."""

from experiments.columns import Column, shared

COLUMNS = shared("neurons", "corruption", "beta", "load", "sample", "queries", "entropy") | {
    "method": Column(
        "sampled, each query with patterns of its own, or enumerated, where the queries of a draw share them", kind=str
    ),
    "heavy": Column("queries whose own pattern has more than half of the weight", "count of queries", kind=int),
    "log_odds": Column("median logarithm of the own weight over the sum of the others'"),
    "error": Column("share of wrong spins after one step", "0 to 1"),
}

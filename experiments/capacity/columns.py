"""Columns of the table of capacity, each with its meaning and unit."""

from experiments.columns import Column, shared

COLUMNS = shared(
    "memory",
    "dynamics",
    "neurons",
    "patterns",
    "corruption",
    "ensemble",
    "beta",
    "max_steps",
    "queries",
    "sample",
    "load",
    "overlap",
    "steps",
    "cycles",
    "step_limit",
) | {
    "parity": Column("whether M is odd or even, also where the option parity is any", kind=str),
    "retained": Column("queries that end with an overlap above 0.8", "count of queries", kind=int),
    "retained_0.7": Column("queries that end with an overlap above 0.7", "count of queries", kind=int),
    "retained_0.9": Column("queries that end with an overlap above 0.9", "count of queries", kind=int),
    "exact": Column(
        "queries that end in the pattern itself; of real states within 1 % of its norm", "count of queries", kind=int
    ),
    "fixed_point": Column(
        "queries whose clean pattern one update leaves where it is; of real states to 1 % of its norm",
        "count of queries",
        kind=int,
    ),
    "one_step_error": Column("share of wrong spins after one update, ½(1 − overlap); empty for real states", "0 to 1"),
    "target_weight": Column(
        "queries whose own pattern has more than half of the weight at the start", "count of queries", kind=int
    ),
    "converged_weight": Column(
        "queries whose own pattern has more than half of the weight at the end; success of retrieval",
        "count of queries",
        kind=int,
    ),
    "overlap_retained": Column("mean overlap of the retained", "−1 to 1"),
}

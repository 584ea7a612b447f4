"""Columns of the table of retrieval, each with its meaning and unit."""

from experiments.columns import Column, shared

COLUMNS = shared(
    "memory",
    "ensemble",
    "neurons",
    "patterns",
    "corruption",
    "kappa",
    "sample",
    "queries",
    "max_steps",
    "cycles",
    "entropy",
    "overlap",
    "step_limit",
    "steps",
) | {
    "one_step_weight": Column("mean weight on the pattern at the start, that of the first step", "0 to 1"),
    "one_step_overlap": Column("mean overlap with the pattern after one update", "−1 to 1"),
    "target_weight": Column("mean weight on the own pattern at the end; no count, as it is in capacity", "0 to 1"),
    "success": Column(
        "queries that end with more than half of the weight on their pattern; converged_weight of capacity",
        "count of queries",
        kind=int,
    ),
    "overlap_kept": Column("mean overlap of the successes", "−1 to 1"),
    "entropy_kept": Column("mean entropy of the weights of the successes", "nats"),
    "target_weight_kept": Column("mean weight on the own pattern of the successes", "0 to 1"),
}

"""Columns of the table of retrieval_story, each with its meaning and unit."""

from experiments.columns import Column, shared

COLUMNS = shared("memory", "beta", "corruption", "step", "energy") | {
    "part": Column("story, stored or plane", kind=str),
    "target": Column("digit that the start was made from", kind=int),
    "state": Column("the state: base64 of half-precision numbers", kind=str),
    "weights": Column("weights of the patterns in the next field: base64 of half-precision numbers", kind=str),
    "entropy": Column("−Σ p ln p of the weights of the patterns in the next field", "nats"),
    "overlap": Column("overlap with the pattern that the start was made from", "−1 to 1"),
    "other": Column("largest overlap with another pattern", "−1 to 1"),
    "step_size": Column("length of the step that follows, in units of a pattern's length"),
}

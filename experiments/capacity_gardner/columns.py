"""Columns of the table of capacity_gardner, each with its meaning and unit."""

from experiments.columns import Column, shared

COLUMNS = shared("rule", "neurons", "patterns", "sample", "load") | {
    "bias": Column("mean of the spins of patterns", "−1 to 1"),
    "flipped": Column("share of flipped spins in the starts of retrieval", "0 to 0.5"),
    "stability": Column("least stability γ = ξ h/‖W‖ of a spin over all patterns, mean over spins"),
    "held": Column("share of spins whose least stability is above that of the rule, 0 unless it names one", "0 to 1"),
    "fixed": Column("share of patterns that one update leaves as they are", "0 to 1"),
    "retained": Column("share of queries that end with an overlap above 0.9 with their pattern", "0 to 1"),
}

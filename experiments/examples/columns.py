"""Columns of the table of examples, each with its meaning and unit."""

from experiments.columns import Column, shared

COLUMNS = shared("rule", "neurons", "patterns", "load", "sample", "overlap") | {
    "quality": Column("r, mean overlap of an example with its pattern", "0 to 1"),
    "examples": Column("examples A shown of each pattern", "count", kind=int),
    "retained": Column("share of patterns whose state, started in them, ends with an overlap above 0.7", "0 to 1"),
}
"""Patterns, the archetypes, are never shown themselves. `overlap` is with the pattern, after a start in it."""

"""Columns of the table of capacity_linear, each with its meaning and unit."""

from experiments.columns import Column, shared

COLUMNS = shared("rule", "neurons", "patterns", "sample", "load") | {
    "theory": Column("share of typical keys that find their value, theory exact up to 1/D²", "0 to 1"),
    "asked": Column("keys that were asked for, at most the option queries", "count", kind=int),
    "all": Column("1 if all of them find their value, 0 otherwise"),
    "found": Column("share of keys that find their value", "0 to 1"),
}

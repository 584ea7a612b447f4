"""Columns of the table of hierarchy, each with its meaning and unit."""

from experiments.columns import Column, shared

COLUMNS = shared("patterns", "sample") | {
    "parts": Column("parts K of each quadrant; 0 is the flat memory", "count", kind=int),
    "hidden": Column("quadrants hidden", "count", kind=int),
    "numbers": Column("numbers that the memory stores", "count", kind=int),
    "asked": Column("digits that were queried, at most the option queries", "count", kind=int),
    "right": Column("queried digits whose own unit ends with the largest field", "count of asked", kind=int),
    "error": Column("root mean square error of the hidden pixels, of stored digits"),
    "error_other": Column("root mean square error of the hidden pixels, of digits that are not stored"),
}

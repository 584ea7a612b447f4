"""Columns of the table of worked_examples, each with its meaning and unit."""

from experiments.columns import Column

COLUMNS = {
    "document": Column("document that prints the number", kind=str),
    "example": Column("worked example that the number is of", kind=str),
    "quantity": Column("quantity that the number is of", kind=str),
    "row": Column("row of the quantity", kind=str),
    "column": Column("column of the quantity", kind=int),
    "printed": Column("number as it is printed"),
    "decimals": Column("decimals that are printed", "count", kind=int),
    "value": Column("computed number"),
    "stderr": Column("standard error of the value, where it was measured"),
    "theory": Column("prediction, where there is one"),
    "right": Column("whether the value rounds to what is printed", kind=bool),
}

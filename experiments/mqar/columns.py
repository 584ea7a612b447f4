"""Columns of the table of mqar, each with its meaning and unit."""

from experiments.columns import Column, shared

COLUMNS = shared("seed_index") | {
    "mixer": Column("what mixes positions: attention by a separation, hopfield, or fast weights", kind=str),
    "width": Column("width of the model", "count", kind=int),
    "length": Column("positions of the sequence", "count", kind=int),
    "pairs": Column("pairs of a sequence", "count", kind=int),
    "state_bytes": Column("bytes that the mixer keeps of a sequence", "bytes", kind=int),
    "accuracy": Column("accuracy on test sequences", "0 to 1"),
    "held": Column("accuracy on validation sequences", "0 to 1"),
    "learning_rate": Column("learning rate that validation chose"),
    "epochs": Column("epochs that were run", "count", kind=int),
    "contradicted": Column("share of asked pairs that filler contradicts", "0 to 1"),
}

"""Columns of the table of bags, each with its meaning and unit."""

from experiments.columns import Column, shared

COLUMNS = shared("data", "method", "auc") | {
    "repetition": Column("number of the division of the bags into folds", kind=int),
    "fold": Column("number of the fold that is tested", kind=int),
    "held_auc": Column("area under the ROC curve within the other folds, by which the setting was chosen", "0 to 1"),
    "chosen": Column("setting that was chosen", kind=str),
    "bags": Column("number of bags of the data", "count", kind=int),
    "instances": Column("number of instances of the data", "count", kind=int),
}

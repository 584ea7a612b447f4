"""Columns of the table of capacity_sparse, each with its meaning and unit."""

from experiments.columns import Column, shared

COLUMNS = shared("rule", "neurons", "patterns", "sample", "load") | {
    "activity": Column("share of neurons on in a pattern", "0 to 1"),
    "on": Column("share on among the neurons that should be, where the dynamics end", "0 to 1"),
    "off": Column("share on among the neurons that should not be, where the dynamics end", "0 to 1"),
    "on_one": Column("share on among the neurons that should be, after one step from the pattern", "0 to 1"),
    "off_one": Column("share on among the neurons that should not be, after one step from the pattern", "0 to 1"),
    "wrong_one": Column("share of wrong neurons after one step from the pattern", "0 to 1"),
    "wrong_theory": Column("share of wrong neurons after one step, as theory predicts it", "0 to 1"),
    "asked": Column("patterns that were queried; one with no neuron on, or none off, is not", "count", kind=int),
    "retained": Column("queried patterns whose on − off ends above ½", "count of asked", kind=int),
    "density": Column("share of Willshaw's synapses that are on", "0 to 1"),
}

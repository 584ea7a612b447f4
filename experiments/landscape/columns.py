"""Columns of the table of landscape, each with its meaning and unit."""

from experiments.columns import Column, shared

COLUMNS = shared("memory", "neurons", "patterns", "temperature", "sample") | {
    "start": Column("number of the start", kind=int),
    "energy": Column("energy per neuron of the end, as the memory defines it"),
    "gradient": Column("slope of the energy at the end; empty on spins"),
    "kind": Column(
        "what the start ends in, of a continuous memory by weights: 0 pattern, 1 reversed, 2 mixture, 3 asymmetric, "
        "4 glassy",
        kind=int,
    ),
    "mark": Column(
        "mark of the end: ends of one mark and draw are one state, in a continuous memory those of one energy too"
    ),
    "overlap": Column("largest overlap of the end with a pattern; on spins its absolute value", "−1 to 1"),
    "settled": Column("1 if the end is a fixed point, 0 otherwise", kind=int),
    "stability": Column("least x_i h_i, or least eigenvalue of the Hessian"),
}

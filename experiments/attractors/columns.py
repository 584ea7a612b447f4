"""Columns of the table of attractors, each with its meaning and unit."""

from experiments.columns import Column, shared

COLUMNS = shared("neurons", "temperature") | {
    "null": Column("0 for the network that is given, else the number of its shuffled copy", kind=int),
    "start": Column("number of the random start", kind=int),
    "end": Column("name of the state that the start ends in, a hash of its spins", kind=str),
    "settled": Column("1 if that is a fixed point, 0 if it was still moving", kind=int),
    "left": Column("1 if it is another one than at temperature 0, 0 otherwise", kind=int),
    "energy": Column("energy per neuron of the end; empty where couplings are asymmetric"),
    "bound": Column("least energy per neuron that the largest eigenvalue allows; empty as the energy is"),
    "exist": Column("fixed points that there are, counted over all states; empty for more than 16 neurons"),
    "nearest": Column("number of the given state of largest |overlap|, −1 if none is given", kind=int),
    "overlap": Column("its overlap with the end", "−1 to 1"),
    "axis_*": Column("projection of the end on the eigenvector * of the symmetric part of the couplings, over √N"),
    "eigenvalue_*": Column("eigenvalue * of the symmetric part of the couplings, largest first"),
}

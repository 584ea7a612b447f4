"""Observables: overlaps of states, spread of weights, thermodynamics, correlations in time and stability.

`weights` holds functions of the weights of one query; those of `thermodynamics` of the same name take an array of them
and an axis.
"""

from hopfield.observables import correlations, energies, overlaps, stability, thermodynamics, weights

__all__ = ["correlations", "energies", "overlaps", "stability", "thermodynamics", "weights"]

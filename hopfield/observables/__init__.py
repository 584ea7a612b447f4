"""Observables: overlaps of states, spread of weights, thermodynamics, correlations in time and stability.

The measures of first use stand here by their own names, `observables.entropy(weights)`; the modules hold all measures.

`boltzmann_weights` is the distribution over patterns, weights of scores at an inverse temperature; nothing is drawn.
`graphs.sample` is Gibbs sampling: it draws the units of a network at a temperature.
"""

from hopfield._arguments import public
from hopfield.observables import correlations, energies, overlaps, stability, thermodynamics, weights
from hopfield.observables.correlations import correlation_time
from hopfield.observables.overlaps import bit_error, nearest_pattern, overlap
from hopfield.observables.stability import update_jacobian
from hopfield.observables.thermodynamics import boltzmann_weights, effective_number, entropy, free_energy

__all__ = [
    "bit_error",
    "boltzmann_weights",
    "correlation_time",
    "correlations",
    "effective_number",
    "energies",
    "entropy",
    "free_energy",
    "nearest_pattern",
    "overlap",
    "overlaps",
    "stability",
    "thermodynamics",
    "update_jacobian",
    "weights",
]
__dir__ = public(__all__)

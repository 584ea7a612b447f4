"""Observables: overlaps of states, spread of weights, thermodynamics, correlations in time and stability.

`entropy` and `effective_number` stand in two modules: those of `weights` take the weights of one query [M], to be
batched with `jax.vmap`, those of `thermodynamics` an array of weights, an axis and a mask that broadcasts.

`thermodynamics.gibbs` is the distribution over patterns, weights of scores at an inverse temperature; nothing is drawn.
`graphs.gibbs` is Gibbs sampling: it draws the units of a network at a temperature.
"""

from hopfield.observables import correlations, energies, overlaps, stability, thermodynamics, weights

__all__ = ["correlations", "energies", "overlaps", "stability", "thermodynamics", "weights"]

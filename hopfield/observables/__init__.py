"""Observables: overlaps of states, spread of weights, thermodynamics and stability."""

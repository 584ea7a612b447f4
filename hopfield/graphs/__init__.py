"""Energies as graphs: layers of neurons joined by synapses of any number of layers, whose energy gives the dynamics.

    E = Σ_layers (x·g − L(x)) + Σ_synapses S(g, g', …)        g = ∇L(x)
    dx/dt = −(x + ∂ΣS/∂g)                                    E never rises, for every L that is convex

`sample` draws the units of a graph at a temperature, as a Boltzmann machine of its layers.

Source: Krotov 2021 (arXiv:2107.06446), hierarchical associative memory; Hoover et al. 2022 (hamux).
"""

from hopfield._arguments import public
from hopfield.graphs.building import energy_transformer, from_memory, two_layers
from hopfield.graphs.dynamics import Descent, descend, flow
from hopfield.graphs.graph import Graph, Layer
from hopfield.graphs.lagrangians import IdentityLagrangian, Lagrangian, LayerNorm, ReLU, Softmax, Spherical, Tanh
from hopfield.graphs.sampling import sample
from hopfield.graphs.synapses import Attention, Bias, BilinearSynapse, Convolution, Dense, Formula, Synapse

__all__ = [
    "Attention",
    "Bias",
    "BilinearSynapse",
    "Convolution",
    "Dense",
    "Descent",
    "Formula",
    "Graph",
    "IdentityLagrangian",
    "Lagrangian",
    "Layer",
    "LayerNorm",
    "ReLU",
    "Softmax",
    "Spherical",
    "Synapse",
    "Tanh",
    "descend",
    "energy_transformer",
    "flow",
    "from_memory",
    "sample",
    "two_layers",
]
__dir__ = public(__all__)

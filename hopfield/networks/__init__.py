"""Networks that are no `Memory`, each by the protocols of `hopfield.dynamics.models` that it keeps.

    asymmetric       spins whose couplings need not be symmetric
    attractors       where a given network comes to rest, and how heat moves it
    binary           neurons {0, 1} with a threshold, and the rules for sparse patterns: covariance, Willshaw
    bidirectional    pairs of patterns that call for each other
    examples         patterns that are seen as noisy examples alone
    random_features  any number of patterns in a vector of fixed size
    sequences        patterns that call for the next one

Networks of several layers of neurons are in `hopfield.graphs`, couplings of spins in `hopfield.Couplings`.
"""

from hopfield._arguments import public
from hopfield.networks.asymmetric import AsymmetricCouplings
from hopfield.networks.attractors import Attractors
from hopfield.networks.bidirectional import BidirectionalMemory
from hopfield.networks.binary import BinaryNetwork, covariance_network, willshaw_network
from hopfield.networks.examples import examples_network
from hopfield.networks.random_features import FeatureMemory
from hopfield.networks.sequences import SequenceMemory

__all__ = [
    "AsymmetricCouplings",
    "Attractors",
    "BidirectionalMemory",
    "BinaryNetwork",
    "FeatureMemory",
    "SequenceMemory",
    "covariance_network",
    "examples_network",
    "willshaw_network",
]
__dir__ = public(__all__)

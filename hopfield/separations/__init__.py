"""Separations: convex potentials F over scores, whose gradient is the weight each pattern gets.

A potential fixes the memory: log-sum-exp gives softmax attention, ½‖z‖² the classical Hopfield network, Σ zⁿ/n the
dense memories, Fenchel–Young potentials the sparse ones. A new one is a file here, whose NAMES say what it is found by;
an import below makes it `separations.<Class>` too.
"""

from hopfield._arguments import public
from hopfield.separations._named import NAMES, as_separation, find, names
from hopfield.separations.base import Separation
from hopfield.separations.exponential import Exponential, LogSumExp
from hopfield.separations.largest import TopK
from hopfield.separations.polynomial import Linear, Polynomial
from hopfield.separations.real_powers import RectifiedPower
from hopfield.separations.relu import LogReLU
from hopfield.separations.softmax_one import SoftmaxOne
from hopfield.separations.sparse import Entmax, Normmax, Sparsemax, SteepEntmax
from hopfield.separations.streams import Stream, Streaming

__all__ = [
    "NAMES",
    "Entmax",
    "Exponential",
    "Linear",
    "LogReLU",
    "LogSumExp",
    "Normmax",
    "Polynomial",
    "RectifiedPower",
    "Separation",
    "SoftmaxOne",
    "Sparsemax",
    "SteepEntmax",
    "Stream",
    "Streaming",
    "TopK",
    "as_separation",
    "find",
    "names",
]
__dir__ = public(__all__)

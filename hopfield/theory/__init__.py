"""Predictions of associative-memory theory, in numpy and scipy (float64), to draw beside measurements.

Every function takes numbers or arrays that broadcast against each other and returns a float64 scalar for scalar
arguments, an array otherwise. Where a prediction does not exist (no retrieval state, say) the value is nan.
A function is named with its module, `theory.dense.capacity`: the same question has another answer for every memory.

    classical     Hebb couplings: replica-symmetric theory at any temperature, its lines, the exact one-step error
    dense         polynomial separations: Krotov and Hopfield's capacities, the finite-size one-step error
    exponential   exponential separations on spins: thresholds, finite-size target weight and one-step error
    spherical     softmax on the sphere, spins or Gaussian patterns: exponents, finite-size predictions, annealed
    linear        fast-weight memories: share of keys found by the outer product and other rules
    sequences     asymmetric couplings: the exact error of a bit, transitions and whole sequences
    sparse        sparse and biased patterns, disturbed couplings, binary synapses: capacities and bits per synapse
    replicas      dense memories at any temperature, replica symmetric, and where that symmetry breaks
    one_step      one step of symmetry breaking for Hebb couplings at T = 0: capacity 0.138186
    general       any separation on spins: one-step error, weights, scaling of the load
    annealed      any weight that depends on the overlap alone, on spins, sphere and Gaussian patterns
    derived       predictions of any memory on random patterns, from its separation alone
    basins        critical initial overlaps: how far from a pattern retrieval may start
    dreaming      couplings after a sleep of any length: the largest load, replica symmetric, 0.138 to 1.068
    diluted       diluted asymmetric couplings: the overlap of every step, exact; the load 2/π
    trajectories  overlaps along synchronous steps of classical and dense networks, exact for N → ∞
    superposed    signs of superposed features: loads up to which patterns, and from which features are retained
    thermal       continuous states on the sphere at a temperature: log-sum-exp and log-sum-ReLU, exact for N → ∞
    novelty       telling a stored pattern from none by what softmax₁ leaves over: area under the ROC curve
    gardner       what any couplings can hold: Gardner's bound of biased patterns, Cover's count
    examples      patterns seen through noisy examples, with and without a teacher
    bounds        Gardner's bound for any couplings, Storkey's rule, the theorems of Ramsauer et al.
"""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

from hopfield._arguments.words import public

if TYPE_CHECKING:
    from hopfield.theory import annealed as annealed
    from hopfield.theory import basins as basins
    from hopfield.theory import bounds as bounds
    from hopfield.theory import classical as classical
    from hopfield.theory import dense as dense
    from hopfield.theory import derived as derived
    from hopfield.theory import diluted as diluted
    from hopfield.theory import dreaming as dreaming
    from hopfield.theory import examples as examples
    from hopfield.theory import exponential as exponential
    from hopfield.theory import gardner as gardner
    from hopfield.theory import general as general
    from hopfield.theory import linear as linear
    from hopfield.theory import novelty as novelty
    from hopfield.theory import one_step as one_step
    from hopfield.theory import replicas as replicas
    from hopfield.theory import sequences as sequences
    from hopfield.theory import sparse as sparse
    from hopfield.theory import spherical as spherical
    from hopfield.theory import superposed as superposed
    from hopfield.theory import thermal as thermal
    from hopfield.theory import trajectories as trajectories

__all__ = [
    "annealed",
    "basins",
    "bounds",
    "classical",
    "dense",
    "derived",
    "diluted",
    "dreaming",
    "examples",
    "exponential",
    "gardner",
    "general",
    "linear",
    "novelty",
    "one_step",
    "replicas",
    "sequences",
    "sparse",
    "spherical",
    "superposed",
    "thermal",
    "trajectories",
]
__dir__ = public(__all__)

if not TYPE_CHECKING:

    def __getattr__(name: str) -> ModuleType:
        """A module of predictions, imported when it is first asked for: they need more of scipy than memories do."""
        if name in __all__:
            return importlib.import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

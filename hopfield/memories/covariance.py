"""The covariance rule for sparse patterns (Tsodyks & Feigel'man 1988), its neurons {0, 1} written as spins."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from hopfield import theory
from hopfield._arguments import Float, real_scalar
from hopfield._numerics import accumulation_dtype, is_traced
from hopfield._parts import stored_spins
from hopfield.couplings import Couplings
from hopfield.memories import EXTENSIVE, Stored, Used
from hopfield.networks.binary import covariance_network
from hopfield.patterns import biased
from hopfield.theory.base import Criterion, Theory, numbers

SCALING = EXTENSIVE
ENSEMBLE = "spins"
PARAMETER = float
SYMBOL = "a"
ACTIVITY = 0.1


def _random_patterns(key, num_patterns: int, neurons: int, activity: float = ACTIVITY) -> Array:
    """Independent spins, +1 with probability a."""
    return biased(key, num_patterns, neurons, 2 * activity - 1)


DRAW = _random_patterns


class CovarianceTheory(Theory):
    """Replica-symmetric theory at the best threshold, and the error of one step with Gaussian crosstalk."""

    sized = frozenset({"one_step_error"})

    def __init__(self, activity: float):
        self.activity = activity

    def kind(self, criterion: Criterion) -> str | None:
        return "replica symmetric" if criterion == "retained" else None

    def critical_load(
        self, criterion, *, neurons=None, corruption=0.0, beta=None, cut=0.8, error=0.005
    ) -> float | None:
        spinodal = theory.sparse.spinodal(self.activity)
        ends = criterion == "retained" and corruption == 0 and spinodal.overlap >= cut
        return float(spinodal.load) if ends else None

    def one_step_error(self, neurons, num_patterns, *, corruption=0.0, beta=None) -> Float | None:
        if corruption > 0:
            return None
        several = np.maximum(num_patterns, 2)  # a pattern alone has no crosstalk, and the least leaves no error
        threshold = theory.sparse.spinodal(self.activity).threshold
        on, off = theory.sparse.one_step_shares(neurons, several, self.activity, threshold)
        return numbers(self.activity * (1 - on) + (1 - self.activity) * off)


THEORY = CovarianceTheory


def covariance(
    patterns: Stored, activity: float = ACTIVITY, *, threshold: float | None = None, mask: Used = None
) -> Couplings:
    """W_ij = Σ_μ (η_i − a)(η_j − a) / (a(1−a)N) of neurons η = (1 + ξ)/2 with a threshold, on spins.

    `hopfield.networks.covariance_network` has the same network on neurons {0, 1}. With no patterns in use there is no
    threshold either.

    Args:
        patterns: spins [M, N], +1 where a neuron is on.
        activity: a, above 0 and at most ½, the share of neurons that patterns should have on.
        threshold: θ; the best one at capacity if None (`theory.sparse.spinodal`).
        mask: patterns in use [M].
    """
    activity = real_scalar("activity", activity, "from 1e-6 to 0.5", 1e-6, 0.5)
    if threshold is None:
        if is_traced(activity):
            raise ValueError("threshold must be given where the activity is traced, got none")
        threshold = theory.sparse.spinodal(float(activity)).threshold
    stored, used = stored_spins(patterns, mask)
    any_used = jnp.any(used).astype(accumulation_dtype(stored.dtype))
    network = covariance_network((1 + stored) / 2, activity, threshold=any_used * threshold, mask=used)
    return network.couplings()

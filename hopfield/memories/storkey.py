"""Storkey's incremental, local learning rule (Storkey 1997)."""

import jax
import jax.numpy as jnp

from hopfield._numerics import wide
from hopfield._parts import stored_spins
from hopfield._pytrees import unchecked
from hopfield.couplings import Couplings
from hopfield.memories import EXTENSIVE, Stored, Used

SCALING = EXTENSIVE
ENSEMBLE = "spins"


def storkey(patterns: Stored, *, mask: Used = None) -> Couplings:
    """w_ij ← w_ij + (ξ_i ξ_j − ξ_i h_ji − h_ij ξ_j)/N for each pattern in turn, h_ij = Σ_{k≠i,j} w_ik ξ_k (his eq. 2).

    Args:
        patterns: spins [M, N], stored in the order of their rows.
        mask: patterns in use [M].
    """
    stored, used = stored_spins(patterns, mask)
    learned = _storkey_couplings(wide(stored), used)
    return unchecked(Couplings, matrix=learned, scale=jnp.ones((), learned.dtype))


@jax.jit
def _storkey_couplings(stored, used):
    neurons = stored.shape[1]
    hollow = 1.0 - jnp.eye(neurons, dtype=stored.dtype)

    def learn(weights, example):
        pattern, in_use = example
        # weights has a zero diagonal, so only the term k = j is left to take out of the full field of neuron i.
        field = (weights @ pattern)[:, None] - weights * pattern[None, :]
        towards = field * pattern[None, :]
        step = pattern[:, None] * pattern[None, :] - towards - towards.T
        return weights + jnp.where(in_use, step * hollow / neurons, 0.0), None

    return jax.lax.scan(learn, jnp.zeros((neurons, neurons), stored.dtype), (stored, used))[0]

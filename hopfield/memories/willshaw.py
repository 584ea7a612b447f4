"""Willshaw's memory (Willshaw, Buneman & Longuet-Higgins 1969): binary synapses, neurons {0, 1} written as spins."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from hopfield import theory
from hopfield._arguments import Float
from hopfield._numerics import accumulation_dtype
from hopfield._parts import stored_spins
from hopfield.couplings import Couplings
from hopfield.memories import Scaling, Stored, Used
from hopfield.networks.binary import BinaryNetwork, willshaw_network
from hopfield.theory.base import Theory, numbers


def _active_neurons(neurons: float) -> int:
    """Neurons on in a pattern, K = log₂N to the nearest integer, the number that stores most."""
    return max(1, round(math.log2(neurons)))


def _density(neurons: float) -> float:
    return (_active_neurons(neurons) / neurons) ** 2


SCALING = Scaling("M K^2 / N^2", lambda m, n: m * _density(n), lambda load, n: load / _density(n))
ENSEMBLE = "spins"


def _random_patterns(key, num_patterns: int, neurons: int) -> Array:
    """Patterns with log₂N neurons on, all such patterns equally likely."""
    keys = jax.vmap(lambda row: jax.random.fold_in(key, row))(jnp.arange(num_patterns))
    chance = jax.vmap(lambda row: jax.random.uniform(row, (neurons,)))(keys)
    index = jax.lax.top_k(chance, _active_neurons(neurons))[1]
    return jax.vmap(lambda on: jnp.full(neurons, -1.0).at[on].set(1.0))(index)


DRAW = _random_patterns


class WillshawTheory(Theory):
    """The error of one step from a pattern, by the binomial spread of a neuron's synapses."""

    sized = frozenset({"one_step_error"})

    def one_step_error(self, neurons, num_patterns, *, corruption=0.0, beta=None) -> Float | None:
        if corruption > 0:
            return None
        on = _active_neurons(neurons)
        return numbers((1 - on / neurons) * np.asarray(theory.sparse.willshaw_error(neurons, num_patterns, on)))


THEORY = WillshawTheory()


def willshaw(patterns: Stored, *, mask: Used = None) -> Couplings:
    """E = Σ_{i<j} (1 − W_ij) V_i V_j − ½ Σ_i V_i with W_ij = [Σ_μ η_i η_j > 0] and V = (1 + x)/2: synapses that lack.

    A neuron is on if it has synapses from all neurons that are on, whatever their number: the threshold follows the
    cue, as in the paper, and there is an energy, E of the couplings but for a constant. One step from a pattern is the
    paper's step. With no patterns in use no synapse lacks.

    Args:
        patterns: spins [M, N], +1 where a neuron is on.
        mask: patterns in use [M].
    """
    stored, used = stored_spins(patterns, mask)
    any_used = jnp.any(used).astype(accumulation_dtype(stored.dtype))
    synapses = willshaw_network((1 + stored) / 2, mask=used).matrix
    return BinaryNetwork(any_used * (synapses - 1), -0.5 * any_used).couplings()

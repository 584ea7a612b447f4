"""Thermodynamic quantities of scores, compiled once for all tests of a separation."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.optimize
import scipy.special
import scipy.stats

from hopfield.observables import thermodynamics as thermo
from tests.hopfield.contracts.parts import SEPARATIONS, quick

EVERY = pytest.mark.parametrize("name", SEPARATIONS)
DTYPES = pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64], ids=lambda dtype: dtype.__name__)
CONVEX = [name for name, separation in SEPARATIONS.items() if separation.convex]
PER_ROW = (
    thermo.log_partition,
    thermo.free_energy,
    thermo.mean_energy,
    thermo.thermal_entropy,
    thermo.energy_variance,
    thermo.heat_capacity,
)
ROWS, M = 24, 6
"""Shape of the scores that most tests share, so that each separation is compiled once."""


@cache
def every(separation: str, axis: int):
    """(scores, β, mask) -> every thermodynamic quantity by name, compiled once."""

    def quantities(scores, beta, mask):
        chosen = {"axis": axis, "mask": mask, "separation": SEPARATIONS[separation]}
        return {f.__name__: f(scores, beta, **chosen) for f in (thermo.boltzmann_weights, *PER_ROW)}

    return quick(quantities)


def quantities_of(scores, beta, mask=True, separation="log_sum_exp", axis=-1):
    """Every thermodynamic quantity along an axis of the scores, in numpy."""
    scores = jnp.asarray(scores)
    used, beta = jnp.broadcast_to(mask, scores.shape), jnp.asarray(beta, scores.dtype)
    return jax.tree.map(np.asarray, every(separation, axis)(scores, beta, used))


gibbs, entropy = quick(thermo.boltzmann_weights), quick(thermo.entropy)


def ensemble(scores, beta):
    """The canonical ensemble of one row worked out by scipy: p, ln Z, ⟨E⟩, H, Var."""
    p = scipy.special.softmax(beta * scores)
    energy = -p @ scores
    return p, scipy.special.logsumexp(beta * scores), energy, scipy.stats.entropy(p), p @ (-scores - energy) ** 2

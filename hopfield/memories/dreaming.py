"""The dreaming rule, between Hebb's and the projection (Fachechi, Agliari & Barra 2019)."""

import jax.numpy as jnp
from jax.scipy.linalg import cho_solve

from hopfield._checks import number
from hopfield._numerics import accumulation_dtype
from hopfield._parts import stored_spins
from hopfield.couplings import Couplings
from hopfield.memories import EXTENSIVE, Stored, Used

SCALING = EXTENSIVE
ENSEMBLE = "spins"
PARAMETER = float
SYMBOL = "t"


def dreaming(patterns: Stored, time: float = 1.0, *, mask: Used = None) -> Couplings:
    """W = (1+t) Ξᵀ (1 + t C)⁻¹ Ξ / N, C = Ξ Ξᵀ/N, without its diagonal: Hebb's rule after a sleep of length t.

    Unlearning of spurious states and consolidation of the patterns in the limit of small steps: t = 0 is Hebb's rule,
    t → ∞ the projection.

    Args:
        patterns: spins [M, N].
        time: t, finite and at least 0; may be traced.
        mask: patterns in use [M].
    Source: Fachechi, Agliari & Barra 2019 (arXiv:1810.12217), eq. 8.
    """
    stored, used = stored_spins(patterns, mask)
    rows = jnp.where(used[:, None], stored, 0.0).astype(accumulation_dtype(stored.dtype))
    slept = jnp.asarray(number("time", time, "a finite number of at least 0", 0.0), rows.dtype)
    slept = jnp.minimum(slept, 1.0 / jnp.finfo(rows.dtype).eps)  # beyond it 1 + t C of dependent patterns is singular
    overlaps = rows @ rows.T / rows.shape[1]
    factor = jnp.linalg.cholesky(jnp.eye(len(rows), dtype=rows.dtype) + slept * overlaps)
    matrix = (1.0 + slept) / rows.shape[1] * (rows.T @ cho_solve((factor, True), rows))
    return Couplings.create(matrix)

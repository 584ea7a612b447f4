"""The dreaming rule, between Hebb's and the projection (Fachechi, Agliari & Barra 2019)."""

import jax.numpy as jnp
from jaxtyping import Array
from numpy.typing import ArrayLike

from hopfield import theory
from hopfield._arguments import Float, real_scalar
from hopfield._numerics import accumulation_dtype
from hopfield._parts import stored_spins
from hopfield.couplings import Couplings
from hopfield.memories import EXTENSIVE, Stored, Used
from hopfield.theory.base import Criterion, Theory, numbers

SCALING = EXTENSIVE
ENSEMBLE = "spins"
PARAMETER = float
SYMBOL = "t"


class DreamingTheory(Theory):
    """Replica-symmetric theory of a sleep of length t.

    Attributes:
        time: t.
    """

    def __init__(self, time: float):
        self.time = time

    def kind(self, criterion: Criterion) -> str | None:
        return "replica symmetric" if criterion == "retained" else None

    def critical_load(
        self, criterion, *, neurons=None, corruption=0.0, beta=None, cut=0.8, error=0.005
    ) -> float | None:
        if criterion != "retained" or corruption != 0:
            return None
        kept = lambda load: theory.dreaming.retrieval_overlap(load, self.time)
        return theory.general.load_at_overlap(kept, theory.dreaming.spinodal(self.time), cut)

    def retained_overlap(self, load: ArrayLike) -> Float:
        return numbers(theory.dreaming.retrieval_overlap(load, self.time))


THEORY = DreamingTheory


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
    slept = jnp.asarray(real_scalar("time", time, "a finite number of at least 0", 0.0), rows.dtype)
    hebb = rows.T @ rows / rows.shape[1]
    learned = jnp.where(slept == 0, hebb, _dreamt_couplings(rows, slept))  # without sleep fields are sums of integers
    return Couplings((learned + learned.T) / 2)


def _dreamt_couplings(rows: Array, time: Array) -> Array:
    """W from the axes v of the patterns, λ the eigenvalues of C: (1+t) λ/(1+tλ) = 1 + (λ−1)/(1+tλ) along each.

    Patterns that span the space make the identity, beside which couplings of order 1/t would be rounded away.
    """
    _, sizes, axes = jnp.linalg.svd(rows, full_matrices=False)
    inside = sizes > sizes[0] * max(rows.shape) * jnp.finfo(sizes.dtype).eps
    levels = jnp.where(inside, sizes**2 / rows.shape[1], 1.0)
    basis = jnp.where(inside[:, None] | jnp.isnan(sizes)[:, None], axes, 0.0)
    span = jnp.where(jnp.sum(inside) == rows.shape[1], 0.0, basis.T @ basis)
    return span + (basis * ((levels - 1.0) / (1.0 + time * levels))[:, None]).T @ basis

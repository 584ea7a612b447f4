"""The projection (pseudo-inverse) rule (Personnaz, Guyon & Dreyfus 1985; Kanter & Sompolinsky 1987)."""

import jax.numpy as jnp
import numpy as np

from hopfield import theory
from hopfield._arguments import Float
from hopfield._numerics import accumulation_dtype
from hopfield._parts import stored_spins
from hopfield._pytrees import unchecked
from hopfield.couplings import Couplings
from hopfield.memories import EXTENSIVE, Stored, Used
from hopfield.theory.base import Criterion, Line, SpinDynamics, Theory, numbers

SCALING = EXTENSIVE
ENSEMBLE = "spins"


class ProjectionTheory(Theory):
    """Any M < N independent patterns are fixed points. Basins follow from the map of one step."""

    def kind(self, criterion: Criterion) -> str | None:
        return None if criterion == "one_step_error" else "exact"

    def critical_load(
        self, criterion, *, neurons=None, corruption=0.0, beta=None, cut=0.8, error=0.005
    ) -> float | None:
        return 1.0 if criterion in ("retained", "fixed_point", "exact") and corruption == 0 else None

    def basins(self, dynamics: SpinDynamics, neurons: int, beta: float | None, loads: Float) -> list[Line]:
        inside = loads < 1
        overlaps = np.full(loads.shape, np.nan)
        overlaps[inside] = numbers(theory.basins.basin_of_projection(loads[inside]))
        return [Line(theory.basins.ONE_STEP, loads, overlaps)]


THEORY = ProjectionTheory()


def projection(patterns: Stored, *, mask: Used = None) -> Couplings:
    """W = Xᵀ(X Xᵀ)⁺X, the projector on the patterns' span, without its diagonal.

    Any M < N independent patterns are fixed points.
    The projector comes from the singular vectors of X, which stay accurate as M → N where the Gram matrix does not;
    patterns of 16 bits have couplings in float32.
    Synchronous dynamics cycle; use asynchronous ones. A field that is zero in exact arithmetic is not after rounding,
    which then decides the spin.

    Args:
        patterns: spins [M, N].
        mask: patterns in use [M].
    """
    stored, used = stored_spins(patterns, mask)
    rows_used = jnp.where(used[:, None], stored, 0.0)
    _, levels, rows = jnp.linalg.svd(rows_used.astype(accumulation_dtype(stored.dtype)), full_matrices=False)
    cutoff = levels[0] * max(stored.shape) * jnp.finfo(levels.dtype).eps
    basis = jnp.where(levels[:, None] <= cutoff, 0.0, rows)  # NaN stays NaN
    projector = basis.T @ basis
    hollow = projector * (1.0 - jnp.eye(projector.shape[0], dtype=projector.dtype))
    return unchecked(Couplings, matrix=hollow, scale=jnp.ones((), hollow.dtype))

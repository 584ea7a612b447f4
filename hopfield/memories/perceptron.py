"""Perceptron learning of couplings, every row by itself, up to Gardner's bound (Gardner 1988)."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from hopfield import theory
from hopfield._arguments import real_scalar, step_limit
from hopfield._numerics import accumulation_dtype
from hopfield._parts import stored_spins
from hopfield._pytrees import unchecked
from hopfield.couplings import Couplings
from hopfield.memories import EXTENSIVE, Stored, Used
from hopfield.networks.asymmetric import AsymmetricCouplings
from hopfield.theory.base import Criterion, Theory

SCALING = EXTENSIVE
ENSEMBLE = "spins"
PARAMETER = float
SYMBOL = r"\kappa"


class GardnerTheory(Theory):
    """Largest load that couplings can hold with a stability κ, for N → ∞ (Gardner 1988)."""

    def __init__(self, stability: float = 0.0) -> None:
        self.stability = stability

    def kind(self, criterion: Criterion) -> str | None:
        return "replica symmetric" if criterion in ("fixed_point", "retained") else None

    def critical_load(
        self, criterion, *, neurons=None, corruption=0.0, beta=None, cut=0.8, error=0.005
    ) -> float | None:
        if criterion != "fixed_point" or corruption or neurons is not None:
            return None
        return float(theory.gardner.critical_load(self.stability))


def THEORY(stability: float) -> Theory:
    """Gardner's bound at the stability that is asked for."""
    return GardnerTheory(stability)


def perceptron(
    patterns: Stored, stability: float = 0.0, *, symmetric: bool = False, most: int = 2000, mask: Used = None
) -> Couplings:
    """W_ij ← W_ij + ξ_i ξ_j / N for every pattern with ξ_i h_i ≤ κ ‖W_i‖, all patterns at a time, from Hebb's W.

    W is a sum of whole numbers over N, so that a field of zero is seen as the tie it is, and counts as an error.

    Ends with all stabilities γ_i = ξ_i h_i / ‖W_i‖ above κ, if couplings exist that have them and `most` repetitions
    reach them; `observables.stability.stabilities` tells. The nearer the load to Gardner's α_c(κ), the more it takes.

    Args:
        patterns: spins [M, N].
        stability: κ, finite and at least 0; may be traced.
        symmetric: whether W stays symmetric, W_ij changing for errors of i and of j; α_c is the same for N → ∞.
        most: repetitions at most.
        mask: patterns in use [M].
    Returns:
        `AsymmetricCouplings`, or `Couplings` with an energy where they are symmetric.
    Source: Gardner 1988, §4; symmetric, Gardner, Gutfreund & Yekutieli 1989.
    """
    stored, used = stored_spins(patterns, mask)
    rows = jnp.where(used[:, None], stored, 0.0).astype(accumulation_dtype(stored.dtype))
    kappa = jnp.asarray(real_scalar("stability", stability, "a finite number of at least 0", 0.0), rows.dtype)
    learned = _learned(rows, used, kappa, step_limit("most", most), symmetric)
    kind = Couplings if symmetric else AsymmetricCouplings
    return unchecked(kind, matrix=learned.T, scale=jnp.asarray(1.0 / rows.shape[1], rows.dtype))


@jax.jit
def _learned(
    rows: Float[Array, "M N"], used: Bool[Array, "M"], kappa: Array, most: Array, symmetric: Array
) -> Float[Array, "N N"]:
    hollow = 1.0 - jnp.eye(rows.shape[1], dtype=rows.dtype)

    def wrong(weights: Array) -> Array:
        norms = jnp.linalg.norm(weights, axis=1)
        return used[:, None] & ~(rows * (rows @ weights.T) > kappa * norms[None, :])

    def learn(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        weights, errors, count = carry
        step = jnp.where(errors, rows, 0.0).T @ rows * hollow
        weights = weights + step + jnp.where(symmetric, step.T, 0.0)
        return weights, wrong(weights), count + 1

    def learning(carry: tuple[Array, Array, Array]) -> Array:
        return jnp.any(carry[1]) & (carry[2] < most)

    start = hollow * (rows.T @ rows)
    return jax.lax.while_loop(learning, learn, (start, wrong(start), jnp.zeros((), int)))[0]

"""AdaTron learning: the couplings of largest stability, every row a support vector machine (Anlauf & Biehl 1989)."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from hopfield._arguments import step_limit
from hopfield._numerics import accumulation_dtype
from hopfield._parts import stored_spins
from hopfield._pytrees import unchecked
from hopfield.memories import EXTENSIVE, Stored, Used
from hopfield.memories.perceptron import GardnerTheory
from hopfield.networks.asymmetric import AsymmetricCouplings

SCALING = EXTENSIVE
ENSEMBLE = "spins"
THEORY = GardnerTheory()


def adatron(patterns: Stored, *, most: int = 5000, mask: Used = None) -> AsymmetricCouplings:
    """W_ij = Σ_μ x_i^μ ξ_i^μ ξ_j^μ / N with x ≥ 0 of least ‖W_i‖ among those with ξ_i h_i ≥ 1: the largest κ = 1/‖W_i‖.

    All patterns at a time, x ← max(0, x + (1 − ξ_i h_i)/L) with L the largest eigenvalue of Σ_μ ξ^μ ξ^μᵀ / N, from an x
    ahead of the last: Nesterov's gradient for that quadratic programme; a row loses a momentum that leads
    uphill. Rows that no couplings can hold grow without end, and stop after `most` repetitions, as do those that can be
    held with a κ near zero.

    Args:
        patterns: spins [M, N].
        most: repetitions at most; less where no ξ_i h_i was off by more than 10⁻⁴.
        mask: patterns in use [M].
    Source: Anlauf & Biehl, Europhys. Lett. 10, 687 (1989), pattern after pattern; the same optimum as Krauth & Mézard's
        minover (1987). Momentum: Nesterov 1983; O'Donoghue & Candès 2015.
    """
    stored, used = stored_spins(patterns, mask)
    rows = jnp.where(used[:, None], stored, 0.0).astype(accumulation_dtype(stored.dtype))
    return unchecked(
        AsymmetricCouplings, matrix=_learned(rows, used, step_limit("most", most)).T, scale=jnp.ones((), rows.dtype)
    )


@jax.jit
def _learned(rows: Float[Array, "M N"], used: Bool[Array, "M"], most: Array) -> Float[Array, "N N"]:
    count, neurons = rows.shape
    hollow = (1.0 - jnp.eye(neurons, dtype=rows.dtype)) / neurons
    steepest = jnp.maximum(jnp.linalg.eigvalsh(rows.T @ rows / neurons)[-1], 1.0 / neurons)  # 0 where none is used

    def weights(strengths: Array) -> Array:
        return ((strengths * rows).T @ rows) * hollow

    def learn(carry: tuple[Array, ...]) -> tuple[Array, ...]:
        ahead, last, momentum, number, _ = carry
        short = jnp.where(used[:, None], 1.0 - rows * (rows @ weights(ahead).T), 0.0)
        off = jnp.max(jnp.where((ahead > 0) | (short > 0), jnp.abs(short), 0.0))
        strengths = jnp.maximum(0.0, ahead + short / steepest)
        uphill = jnp.sum((ahead - strengths) * (strengths - last), axis=0) > 0
        momentum = jnp.where(uphill, 0.0, momentum + 1.0)
        share = momentum / (momentum + 3.0)
        further = jnp.maximum(0.0, strengths + share[None, :] * (strengths - last))
        return further, strengths, momentum, number + 1, off

    def learning(carry: tuple[Array, ...]) -> Array:
        return (carry[3] < most) & ~(carry[4] <= 1e-4)

    zero = jnp.zeros((count, neurons), rows.dtype)
    start = (zero, zero, jnp.zeros(neurons, rows.dtype), jnp.zeros((), int), jnp.full((), jnp.inf, rows.dtype))
    return weights(jax.lax.while_loop(learning, learn, start)[1])

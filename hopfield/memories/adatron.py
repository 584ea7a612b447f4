"""AdaTron learning: the couplings of largest stability, every row a support vector machine (Anlauf & Biehl 1989)."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from hopfield._arguments import step_limit
from hopfield._numerics import accumulation_dtype
from hopfield._parts import stored_spins
from hopfield.memories import EXTENSIVE, Stored, Used
from hopfield.memories.perceptron import GardnerTheory
from hopfield.networks.asymmetric import AsymmetricCouplings

SCALING = EXTENSIVE
ENSEMBLE = "spins"
THEORY = GardnerTheory()
RELAXED = 1.5
"""Over-relaxation, between 0 and 2: of the order of sweeps of Gauss and Seidel's method that it saves."""


def adatron(patterns: Stored, *, most: int = 500, mask: Used = None) -> AsymmetricCouplings:
    """W_ij = Σ_μ x_i^μ ξ_i^μ ξ_j^μ / N with x ≥ 0 of least ‖W_i‖ among those with ξ_i h_i ≥ 1: the largest κ = 1/‖W_i‖.

    Pattern after pattern, x ← max(0, x + r (1 − ξ_i h_i)/(1 − 1/N)): Gauss and Seidel's method for that quadratic
    programme. Rows that no couplings can hold grow without end, and stop after `most` sweeps.

    Args:
        patterns: spins [M, N].
        most: sweeps over the patterns at most; less where no ξ_i h_i of a sweep was off by more than 10⁻⁴.
        mask: patterns in use [M].
    Source: Anlauf & Biehl, Europhys. Lett. 10, 687 (1989); the same optimum as Krauth & Mézard's minover (1987).
    """
    stored, used = stored_spins(patterns, mask)
    rows = jnp.where(used[:, None], stored, 0.0).astype(accumulation_dtype(stored.dtype))
    learned = _learned(rows, used, step_limit("most", most))
    return AsymmetricCouplings(learned.T, jnp.ones((), rows.dtype))


@jax.jit
def _learned(rows: Float[Array, "M N"], used: Bool[Array, "M"], most: Array) -> Float[Array, "N N"]:
    count, neurons = rows.shape
    own = 1.0 - 1.0 / neurons  # a pattern's field on itself, per unit of x, without the own spin

    def learn(weights: Array, example: tuple[Array, Array, Array]) -> tuple[Array, tuple[Array, Array]]:
        pattern, strength, in_use = example
        field = weights @ pattern - jnp.diagonal(weights) * pattern
        short = 1.0 - pattern * field
        step = jnp.where(in_use, jnp.maximum(-strength, RELAXED * short / own), 0.0)
        off = jnp.where(in_use & ((strength > 0) | (short > 0)), jnp.abs(short), 0.0)
        return weights + jnp.outer(step * pattern, pattern) / neurons, (strength + step, jnp.max(off))

    def sweep(carry: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
        weights, strengths, number, _ = carry
        weights, (strengths, off) = jax.lax.scan(learn, weights, (rows, strengths, used))
        return weights, strengths, number + 1, jnp.max(off)

    def learning(carry: tuple[Array, Array, Array, Array]) -> Array:
        return (carry[2] < most) & ~(carry[3] <= 1e-4)

    zero = jnp.zeros((neurons, neurons), rows.dtype)
    start = (zero, jnp.zeros((count, neurons), rows.dtype), jnp.zeros((), int), jnp.full((), jnp.inf, rows.dtype))
    weights = jax.lax.while_loop(learning, sweep, start)[0]
    return jnp.where(jnp.eye(neurons, dtype=bool), 0.0, weights)

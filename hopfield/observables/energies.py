"""Energies where a memory's own is not enough: published constants, small differences, and sizes beyond all floats."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from hopfield._arguments import instance
from hopfield._numerics import wide
from hopfield.memory import Memory
from hopfield.patterns.sources import Source
from hopfield.separations import Exponential, LogSumExp
from hopfield.similarities import Dot
from hopfield.spaces import Euclidean, State


def energy_constant(memory: Memory) -> Float[Array, ""]:
    """F(0)/β + ½ max‖ξ‖², which added to `memory.energy` gives the published energies, which are never negative.

    For log-sum-exp, with F(0) = ln M, it is β⁻¹ ln M + ½ max‖ξ‖² of Ramsauer et al.; for entmax, sparsemax and normmax
    it turns ½‖x‖² − F(βs)/β into −β⁻¹ L(β X x; 1/M) + ½‖x − μ‖² + ½ (max‖ξ‖² − ‖μ‖²) with the Fenchel–Young loss L and
    the mean pattern μ (Santos et al.). It changes no difference of energies.

    Args:
        memory: one of dot products in ℝᴺ whose weights sum to one; masked patterns do not count.
    Raises:
        ValueError: the memory is another one, or has its patterns in no array.
    Source: Ramsauer et al. 2021, eq. 2 (arXiv:2008.02217); Santos et al. 2024, definition 3 (arXiv:2402.13725).
    """
    instance("memory", memory, Memory)
    known = type(memory.similarity) is Dot and type(memory.space) is Euclidean and memory.separation.normalised
    if not known or isinstance(memory.patterns, Source):
        got = ", ".join(type(x).__name__ for x in (memory.similarity, memory.separation, memory.space, memory.patterns))
        raise ValueError(f"memory must have dot products, weights that sum to one, ℝᴺ and an array, got {got}")
    patterns = jnp.asarray(memory.patterns)
    patterns = wide(patterns)
    square = jnp.sum(patterns * patterns, axis=1)
    square = square if memory.mask is None else jnp.where(memory.mask, square, 0.0)
    potential = memory.separation.potential(jnp.zeros_like(square), memory.mask)
    return potential / memory.beta + 0.5 * jnp.max(square)


def bare_energy(memory: Memory, state: State) -> Float[Array, ""]:
    """E(x) + F(0)/β = R(x) − [F(β s) − F(0)]/β: the energy without ln M/β, in which differences drown as β → 0.

    For log-sum-exp it nears R(x) − the mean score, to rounding of these at any β, where float32 leaves of
    `memory.energy` at β = 1e-6 and a thousand patterns steps of 0.5.

    Args:
        memory: any whose F(0) is finite.
        state: [N].
    """
    instance("memory", memory, Memory)
    state = wide(memory.as_state(state))
    scores = memory.scores(state).astype(state.dtype)
    rise = memory.separation.potential_difference(scores, jnp.zeros_like(scores), memory.beta, memory.mask)
    return memory.space.potential(state) - rise


def log_energy(memory: Memory, state: State) -> Float[Array, ""]:
    """ln(−E(x)) = ln Σ e^(λ ξ·x) − ln λ of an exponential memory, finite where E is −∞: from λ N = 89 on in float32.

    Args:
        memory: the exponential one, on spins or another space where R = 0.
        state: [N].
    Raises:
        ValueError: the memory is another one.
    """
    instance("memory", memory, Memory)
    if type(memory.separation) is not Exponential or not memory.space.flat:
        got = f"{type(memory.separation).__name__} on {type(memory.space).__name__}"
        raise ValueError(f"memory must be exponential where R = 0, as on spins, got {got}")
    scores = memory.beta * memory.scores(state)
    return LogSumExp().potential(scores, memory.mask) - jnp.log(memory.beta)

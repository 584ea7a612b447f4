"""Energies as they are published: the additive constant that a memory leaves out."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from hopfield._arguments import instance, public
from hopfield._numerics import wide
from hopfield.memory import Memory
from hopfield.patterns.sources import Source
from hopfield.similarities import Dot
from hopfield.spaces import Euclidean

__all__ = ["energy_constant"]
__dir__ = public(__all__)


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

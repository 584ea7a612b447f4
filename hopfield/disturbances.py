"""Disturbed couplings: clipped to their signs, diluted, or noisy.

Each takes a network on spins, `Couplings` or a classical `Memory`, and returns couplings of the same kind with the same
bias: both directions of a pair are disturbed alike, but in `AsymmetricCouplings` each by itself. Each adds to the
noise of variance v that the patterns make in every coupling a noise of variance κ v: κ = π/2 − 1 where couplings are
clipped, (1−c)/c where a share c is kept, δ² for noise (capacities: `theory.sparse.disturbed_critical_load`).
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array

from hopfield._arguments import instance, random_key, real_scalar
from hopfield._numerics import safe_norm
from hopfield._parts import check_classical
from hopfield._pytrees import changed
from hopfield.couplings import Couplings, hebb_couplings
from hopfield.memory import Memory


def clipped(model: Memory | Couplings) -> Couplings:
    """Signs of the couplings times the mean size of the nonzero couplings: the nearest matrix of one size.

    Source: Sompolinsky 1987; capacity 0.102 N of Hebb's rule.
    """
    couplings = _couplings(model)
    size = jnp.sum(jnp.abs(couplings.matrix)) / jnp.maximum(jnp.sum(couplings.matrix != 0), 1)
    strength = jnp.where(size > 0, size, 1.0)  # of no couplings at all
    bias = None if couplings.bias is None else couplings.bias / strength
    return changed(couplings, matrix=jnp.sign(couplings.matrix), scale=couplings.scale * strength, bias=bias)


def diluted(model: Memory | Couplings, key, keep: float | Array) -> Couplings:
    """Couplings cut at random: kept with probability `keep`, in (0, 1], their scale divided by `keep`.

    What is kept stays as it was, Hebb's integers among it, so that a field of zero is seen as the tie it is. Both
    directions of a pair are kept or cut together; of `AsymmetricCouplings` each by itself, which gives the network
    of Derrida, Gardner & Zippelius 1987 from Hebb's couplings.
    """
    couplings, key = _couplings(model), random_key("key", key)
    keep = real_scalar("keep", keep, "from 1e-6 to 1", 1e-6, 1.0)
    chance = jax.random.uniform(key, couplings.matrix.shape, couplings.matrix.dtype)
    kept = _of_pairs(couplings, chance) < keep
    bias = None if couplings.bias is None else couplings.bias * keep
    return changed(couplings, matrix=jnp.where(kept, couplings.matrix, 0.0), scale=couplings.scale / keep, bias=bias)


def noisy(model: Memory | Couplings, key, strength: float | Array) -> Couplings:
    """Couplings with Gaussian noise of `strength` ≥ 0 times their root mean square, one draw for each pair.

    Of `AsymmetricCouplings` each direction has its own.
    """
    couplings, key = _couplings(model), random_key("key", key)
    strength = real_scalar("strength", strength, "a finite number of at least 0", 0.0)
    neurons = couplings.matrix.shape[0]
    drawn = _of_pairs(couplings, jax.random.normal(key, couplings.matrix.shape, couplings.matrix.dtype))
    size = safe_norm(couplings.matrix.ravel()) / max(neurons * (neurons - 1), 1) ** 0.5
    return changed(couplings, matrix=couplings.matrix + strength * size * drawn)


def _of_pairs(couplings: Couplings, drawn: Array) -> Array:
    """Draws [N, N] with a zero diagonal: for symmetric couplings one draw for both directions of a pair."""
    if type(couplings) is not Couplings:
        return jnp.where(jnp.eye(len(drawn), dtype=bool), 0.0, drawn)
    upper = jnp.triu(drawn, 1)
    return upper + upper.T


def _couplings(model: Memory | Couplings) -> Couplings:
    """Couplings, unchanged, or Hebbian couplings of a classical memory. TypeError or ValueError for anything else."""
    instance("model", model, Memory, Couplings)
    if isinstance(model, Couplings):
        return model
    check_classical("model", model)
    return hebb_couplings(model)

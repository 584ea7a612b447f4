"""Structured ensembles: superpositions of features, trees of patterns, and noisy examples of patterns.

Row μ depends on the key and μ only, as in `ensembles`. The same spins come out in every floating type.
"""

from collections.abc import Callable
from functools import cache

import jax
import jax.numpy as jnp
from jax.typing import DTypeLike
from jaxtyping import Array, Float, PRNGKeyArray

from hopfield._arguments import integer, real_matrix, real_scalar
from hopfield._arrays import Patterns, State
from hopfield.patterns.ensembles import Index, Scalar, _ensemble, biased, spins


def superpositions(
    key: PRNGKeyArray,
    num_patterns: int,
    features: Float[Array, "D N"],
    *,
    active: int | None = None,
    first: Index = 0,
    dtype: DTypeLike | None = None,
) -> Patterns:
    """Spins x = sgn(Σ_k c_k f_k) of Gaussian coefficients c and D features f that all patterns share.

    With Gaussian features they lie on the hidden manifold of Goldt et al., with spins they are the patterns of the
    random-features Hopfield network, which learns the features themselves once there are enough patterns.

    Args:
        key: random key of the coefficients.
        num_patterns: M.
        features: f [D, N], such as `gaussian(key, D, N)` or `spins(key, D, N)`.
        active: number of features in each pattern, whose other coefficients are 0; all D if None.
        first, dtype: as for `spins`.
    Source: Goldt, Mézard, Krzakala & Zdeborová 2020, eq. 5; Negri, Lauditi, Perugini, Lucibello & Malatesta 2023.
    """
    rows = real_matrix("features", features).astype(jnp.float32)
    used = rows.shape[0] if active is None else integer("active", active)
    if used > rows.shape[0]:
        raise ValueError(f"active must be at most the {rows.shape[0]} features, got {used}")
    return _ensemble(_superposed_row(used), key, num_patterns, rows.shape[1], first, dtype, rows)


@cache  # so that one program serves all calls
def _superposed_row(active: int) -> Callable[..., State]:
    def row(key: PRNGKeyArray, neurons: int, dtype: DTypeLike, features: Array) -> State:
        chosen, weights = jax.random.split(key)
        coefficients = jax.random.normal(weights, features.shape[:1], jnp.float32)
        if active < features.shape[0]:
            kept = jax.random.permutation(chosen, features.shape[0]) < active
            coefficients = jnp.where(kept, coefficients, 0.0)
        field = jnp.matmul(coefficients, features, precision=jax.lax.Precision.HIGHEST)
        return jnp.where(jnp.isnan(field), jnp.nan, jnp.where(field >= 0, 1.0, -1.0)).astype(dtype)

    return row


def hierarchical(
    key: PRNGKeyArray,
    num_patterns: int,
    neurons: int,
    overlap: Scalar,
    *,
    children: int,
    first: Index = 0,
    dtype: DTypeLike | None = None,
) -> Patterns:
    """Spins of a tree of two levels: pattern μ is child of ancestor ⌊μ/children⌋, with a mean overlap q with it.

    Each spin of a child is its ancestor's with probability (1 + q)/2, so that siblings have a mean overlap q², and
    patterns of other ancestors none.

    Args:
        overlap: q, from 0 to 1.
        children: patterns of one ancestor, at least 1.
        key, num_patterns, neurons, first, dtype: as for `spins`.
    Source: Parga & Virasoro 1986; Feigel'man & Ioffe 1987.
    """
    own = biased(
        key, num_patterns, neurons, real_scalar("overlap", overlap, "in [0, 1]", 0.0, 1.0), first=first, dtype=dtype
    )
    numbers = (jnp.asarray(first, jnp.uint32) + jnp.arange(num_patterns, dtype=jnp.uint32)) // integer(
        "children", children
    )
    tree = jax.random.fold_in(key, 2**32 - 1)  # no row's own key, while there are fewer
    ancestor = lambda number: spins(jax.random.fold_in(tree, number), 1, neurons, dtype=own.dtype)[0]
    return own * jax.vmap(ancestor)(numbers)


def examples(key: PRNGKeyArray, patterns: Patterns, count: int, quality: Scalar) -> Float[Array, "M A N"]:
    """Noisy examples η = ξ χ of patterns [M, A, N]: each spin is the pattern's with probability (1 + r)/2.

    Args:
        key: random key.
        patterns: archetypes ξ [M, N], spins.
        count: examples A of each.
        quality: r, from 0 to 1: mean overlap of an example with its archetype.
    Source: Agliari, Alemanno, Barra & De Marzo 2022, eq. 2.
    """
    stored, count = real_matrix("patterns", patterns), integer("count", count)
    r = real_scalar("quality", quality, "in [0, 1]", 0.0, 1.0)
    signs = biased(key, stored.shape[0] * count, stored.shape[1], r, dtype=stored.dtype)
    return stored[:, None, :] * signs.reshape(stored.shape[0], count, stored.shape[1])

"""The metric that attention induces on query space: how fast the weights over patterns change as the query moves.

    G(q) = β² Cov_p(K) = ∇² lse(β K q) = β ∂(update)/∂q,      p = softmax(β K q)
    Γ_abc = ½ β³ κ_abc,   κ the third cumulant of the patterns under p

It is the Fisher–Rao metric of the weights, pulled back to queries.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._arguments import integer, positive_scalar, real_array
from hopfield._arrays import Patterns, lengths
from hopfield._numerics import accumulation_dtype, is_traced

Query = Float[Array, "N"]


def attention_metric_matrix(query: Query, patterns: Patterns, beta: ArrayLike = 1.0) -> Float[Array, "N N"]:
    """G = β² Cov_p(K) [N, N], positive semi-definite and singular where M ≤ N."""
    beta, p, centred = _weights_and_centred(query, patterns, beta)
    return beta**2 * (centred.T * p[None, :]) @ centred


def attention_christoffels_first(query: Query, patterns: Patterns, beta: ArrayLike = 1.0) -> Float[Array, "N N N"]:
    """Γ_abc = ½ β³ Σ_μ p_μ (ξ_μ − ξ̄)_a (ξ_μ − ξ̄)_b (ξ_μ − ξ̄)_c, symmetric in all three."""
    beta, p, centred = _weights_and_centred(query, patterns, beta)
    return 0.5 * beta**3 * jnp.einsum("m,ma,mb,mc->abc", p, centred, centred, centred)


def attention_christoffels(query: Query, patterns: Patterns, beta: ArrayLike = 1.0) -> Float[Array, "N N N"]:
    """Γ^a_bc = G^ad Γ_dbc.

    Raises:
        ValueError: G is singular: M ≤ N patterns leave directions in which no weight changes.
    """
    metric = attention_metric_matrix(query, patterns, beta)
    if not is_traced(metric):
        levels = np.linalg.eigvalsh(np.asarray(metric))
        if not levels[0] > levels[-1] * metric.shape[0] * np.finfo(metric.dtype).eps:
            raise ValueError(
                f"patterns must spread in all {metric.shape[0]} directions for the metric to be inverted, "
                f"got least and largest eigenvalue {levels[0]:.3g} and {levels[-1]:.3g}"
            )
    lowered = attention_christoffels_first(query, patterns, beta)
    return jnp.linalg.solve(metric, lowered.reshape(metric.shape[0], -1)).reshape(lowered.shape)


def fisher_length(
    states: Float[Array, "T N"], patterns: Patterns, beta: ArrayLike = 1.0, *, pieces: int = 64
) -> Float[Array, ""]:
    """Length of a trajectory of queries in the attention metric, straight between its states.

    Each straight step is cut into pieces, as long as the Fisher–Rao distance 2 arccos Σ √(p p') of the weights at their
    ends. The sum never exceeds the length and falls short of it by O(1/pieces²); it is exact for two patterns,
    also where the weights jump within a small part of a step, which quadrature of the speed would miss.

    Args:
        states: as `hopfield.trajectory` returns them.
        pieces: pieces of each step, at least 1.
    """
    pieces, states, patterns, beta = integer("pieces", pieces), *_fitting("states", states, 2, patterns, beta)
    dtype = states.dtype
    t = jnp.linspace(0.0, 1.0, pieces + 1, dtype=dtype)[None, :, None]
    queries = states[:-1, None, :] * (1.0 - t) + states[1:, None, :] * t
    roots = jnp.exp(0.5 * jax.nn.log_softmax(beta * queries @ patterns.T, axis=-1))  # √p, on the unit sphere
    apart, together = lengths(jnp.diff(roots, axis=1)), lengths(roots[:, 1:] + roots[:, :-1])
    return jnp.sum(4.0 * jnp.arctan2(apart, together))


def _fitting(name: str, states: Array, rank: int, patterns: Array, beta: ArrayLike) -> tuple[Array, Array, Array]:
    """States, patterns and β in one precision. Raises ValueError for other axes or widths, or β not positive."""
    states, patterns = real_array(name, states), real_array("patterns", patterns)
    if patterns.ndim != 2 or states.ndim != rank or states.shape[-1] != patterns.shape[-1]:
        axes = "[T, N]" if rank == 2 else "[N]"
        raise ValueError(f"{name} must be {axes} for patterns [M, N], got {states.shape} for {patterns.shape}")
    dtype = accumulation_dtype(jnp.result_type(states, patterns))
    return states.astype(dtype), patterns.astype(dtype), positive_scalar("beta", beta, dtype)


def _weights_and_centred(query: Query, patterns: Patterns, beta: ArrayLike) -> tuple[Array, Array, Array]:
    query, patterns, beta = _fitting("query", query, 1, patterns, beta)
    p = jax.nn.softmax(beta * patterns @ query)
    return beta, p, patterns - (p @ patterns)[None, :]

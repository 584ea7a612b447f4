"""The metric that attention induces on query space: how fast the weights over patterns change as the query moves.

    G(q) = β² Cov_p(K) = ∇² lse(β K q) = β ∂(update)/∂q,      p = softmax(β K q)
    Γ_abc = ½ β³ κ_abc,   κ the third cumulant of the patterns under p

It is the Fisher–Rao metric of the weights, pulled back to queries.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hopfield.numerics import accumulation_dtype, is_traced

Query = Float[Array, "N"]
Patterns = Float[Array, "M N"]


def attention_metric(query: Query, patterns: Patterns, beta=1.0) -> Float[Array, "N N"]:
    """G = β² Cov_p(K) [N, N], positive semi-definite; singular where M ≤ N."""
    p, centred = _weighted(query, patterns, beta)
    return beta**2 * (centred.T * p[None, :]) @ centred


def attention_christoffel_first(query: Query, patterns: Patterns, beta=1.0) -> Float[Array, "N N N"]:
    """Γ_abc = ½ β³ Σ_μ p_μ (ξ_μ − ξ̄)_a (ξ_μ − ξ̄)_b (ξ_μ − ξ̄)_c, symmetric in all three."""
    p, centred = _weighted(query, patterns, beta)
    return 0.5 * beta**3 * jnp.einsum("m,ma,mb,mc->abc", p, centred, centred, centred)


def attention_christoffel(query: Query, patterns: Patterns, beta=1.0) -> Float[Array, "N N N"]:
    """Γ^a_bc = G^ad Γ_dbc.

    Raises:
        ValueError: G is singular: M ≤ N patterns leave directions in which no weight changes.
    """
    metric = attention_metric(query, patterns, beta)
    if not is_traced(metric):
        levels = np.linalg.eigvalsh(np.asarray(metric))
        if not levels[0] > levels[-1] * metric.shape[0] * np.finfo(metric.dtype).eps:
            raise ValueError(
                f"patterns must spread in all {metric.shape[0]} directions for the metric to be inverted, "
                f"got least and largest eigenvalue {levels[0]:.3g} and {levels[-1]:.3g}"
            )
    lowered = attention_christoffel_first(query, patterns, beta)
    return jnp.linalg.solve(metric, lowered.reshape(metric.shape[0], -1)).reshape(lowered.shape)


def fisher_length(states: Float[Array, "T N"], patterns: Patterns, beta=1.0, *, nodes: int = 8) -> Float[Array, ""]:
    """Length of a trajectory of queries in the attention metric, straight between its states.

    Args:
        states: as `hopfield.trajectory` returns them.
        nodes: Gauss–Legendre nodes on each straight piece.
    """
    points, weights = (jnp.asarray(x, states.dtype) for x in np.polynomial.legendre.leggauss(nodes))

    def piece(start, end):
        step = end - start

        def speed(t):
            square = step @ attention_metric(start + t * step, patterns, beta) @ step
            return jnp.sqrt(jnp.maximum(square, 0.0))

        return jnp.sum(weights * jax.vmap(speed)((points + 1) / 2)) / 2

    return jnp.sum(jax.vmap(piece)(states[:-1], states[1:]))


def _weighted(query: Query, patterns: Patterns, beta) -> tuple[Array, Array]:
    dtype = accumulation_dtype(jnp.result_type(query, patterns))
    query, patterns = query.astype(dtype), patterns.astype(dtype)
    p = jax.nn.softmax(beta * patterns @ query)
    return p, patterns - (p @ patterns)[None, :]

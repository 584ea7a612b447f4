"""Functions of scores, entry by entry, between the products of queries with keys and what turns them into weights."""

from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array, Float

from hopfield._arguments import real_scalar


@dataclass(frozen=True)
class SoftCap:
    """Scores s held between −cap and cap: cap tanh(s / cap).

    Example:
        >>> from hopfield import attention
        >>> attention.SoftCap(2.0)(jnp.array([0.0, 1.0, 100.0])).round(3).tolist()
        [0.0, 0.9240000247955322, 2.0]

    Source: Gemma Team 2024, §2 (arXiv:2408.00118).
    """

    cap: float

    def __post_init__(self) -> None:
        real_scalar("cap", self.cap, "positive and finite", 1e-30)

    def __call__(self, scores: Float[Array, "*axes"]) -> Float[Array, "*axes"]:
        return self.cap * jnp.tanh(scores / self.cap)

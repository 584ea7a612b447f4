"""Couplings learned from noisy examples of patterns that are never shown themselves."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from hopfield._arguments import flag, real_array
from hopfield._numerics import wide
from hopfield._pytrees import unchecked
from hopfield.couplings import Couplings


def examples_network(examples: Float[Array, "M A N"], *, supervised: bool = True) -> Couplings:
    """Hebbian couplings of A examples of each of M patterns, J ∝ Σ_μ (Σ_a η^{μa})(Σ_a η^{μa})ᵀ if it is told whose.

    Without a teacher J ∝ Σ_{μ,a} η^{μa} (η^{μa})ᵀ. Both are over N, and over A² or A.

    Args:
        examples: η [M, A, N], as `patterns.examples` draws them; an example of zeros is absent.
        supervised: whether the examples of one pattern are added up before they are stored.
    Source: Agliari, Alemanno, Barra & De Marzo 2022; Alemanno, Aquaro, Kanter, Barra & Agliari 2023.
    """
    shown = wide(real_array("examples", examples))
    if shown.ndim != 3 or 0 in shown.shape:
        raise ValueError(f"examples must be [M, A, N], none of them 0, got shape {shown.shape}")
    rows = jnp.sum(shown, axis=1) if flag("supervised", supervised) else shown.reshape(-1, shown.shape[2])
    hollow = jnp.where(jnp.eye(shown.shape[2], dtype=bool), 0.0, rows.T @ rows)
    scale = 1.0 / (shown.shape[2] * shown.shape[1] ** (2 if supervised else 1))
    return unchecked(Couplings, matrix=hollow, scale=jnp.asarray(scale, hollow.dtype))

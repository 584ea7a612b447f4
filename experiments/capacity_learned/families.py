"""Families of separations whose numbers are learned: α of entmax, degree of a power, weights of a convex network."""

import math
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hopfield import separations
from hopfield.separations import RectifiedPower, Separation

Params = dict[str, Any]
UNITS = 8
"""Units of a network."""
LARGEST = 14.0
"""Largest threshold that its units start with: below it their sum rises about as e^z does."""
NUMBERS = {"entmax": 0.0, "power": math.log(math.expm1(2.0))}
"""Start of the number of a family: α = 1 + sigmoid = 1.5, degree n = 1 + softplus = 3."""


class Network(Separation):
    """F = Σ_μ f(z_μ) with a network f(z) = Σ_k (a_k/w_k) softplus(w_k (z − t_k)), always convex and increasing.

    Its weights Σ_k a_k sigmoid(w_k (z − t_k)) can be any rising curve from 0 that levels off. Slopes a and w are kept
    as logarithms.

    Source: Amos, Xu & Kolter 2017 (arXiv:1609.07152): weights that are not negative, activations convex and increasing.
    """

    log_height: Float[Array, "K"]
    log_slope: Float[Array, "K"]
    threshold: Float[Array, "K"]

    def _inner(self, z: Array) -> Array:
        return jnp.exp(self.log_slope)[None, :] * (z[:, None] - self.threshold[None, :])

    def potential(self, z: Array, mask: Array | None = None) -> Array:
        each = jax.nn.softplus(self._inner(z)) @ jnp.exp(self.log_height - self.log_slope)
        return jnp.sum(each if mask is None else jnp.where(mask, each, 0.0))

    def weights(self, z: Array, mask: Array | None = None) -> Array:
        return jnp.exp(self._log_weights(z, mask))

    def shares(self, z: Array, mask: Array | None = None) -> Array:
        return jax.nn.softmax(self._log_weights(z, mask))

    def _log_weights(self, z: Array, mask: Array | None) -> Array:
        found = jax.nn.logsumexp(self.log_height[None, :] + jax.nn.log_sigmoid(self._inner(z)), axis=1)
        return found if mask is None else jnp.where(mask, found, -jnp.inf)


def start(family: str) -> Params:
    """Initial parameters of learning, empty for a family without parameters."""
    if family == "network":
        threshold = jnp.linspace(0.0, LARGEST, UNITS, dtype=jnp.float32)
        return {"network": {"log_height": threshold, "log_slope": jnp.zeros_like(threshold), "threshold": threshold}}
    return {"number": jnp.float32(NUMBERS[family])} if family in NUMBERS else {}


def number(family: str, params: Params) -> Array:
    """Learned number of the separation: α of entmax or the degree of a power. NaN for all other families."""
    if family == "entmax":
        return 1.0 + jax.nn.sigmoid(params["number"])
    return 1.0 + jax.nn.softplus(params["number"]) if family == "power" else jnp.asarray(jnp.nan)


def separation(family: str, params: Params) -> Separation:
    """The separation of a family at some parameters."""
    if family == "entmax":
        return separations.Entmax(number(family, params))  # type: ignore[arg-type]
    if family == "network":
        return Network(**params["network"])
    return RectifiedPower(number(family, params)) if family == "power" else separations.find(family)

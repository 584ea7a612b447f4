"""Asymmetric couplings: a network of spins in which what j sends to i need not be what i sends to j."""

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._arguments import real_vector
from hopfield._pytrees import changed, fill
from hopfield.couplings import Couplings, square_matrix
from hopfield.memory import Dynamics, Memory
from hopfield.spaces import State


class AsymmetricCouplings(Couplings):
    """A network on spins given by any matrix with zero diagonal: the field on i is scale (Σ_j W_ij x_j + bias_i).

    No energy exists that falls along its dynamics, and `energy` is NaN: `retrieve` follows states to rest, to a cycle
    or to the limit of steps, `glauber` to a stationary state that is not Gibbs'. `matrix` is Wᵀ, a row for what each
    spin sends.

    Args:
        weights: W [N, N], W_ij what spin j sends to spin i; its diagonal is dropped. Half precision becomes float32.
        scale: a number. bias: [N].
    Raises:
        ValueError: the weights are not finite or not square, or `bias` is no vector of N numbers.

    Example:
        >>> from hopfield import retrieve
        >>> from hopfield.networks import AsymmetricCouplings
        >>> leader = AsymmetricCouplings([[0, 0], [1, 0]])  # the second spin follows the first
        >>> retrieve(leader, jnp.array([1.0, -1.0])).state.tolist()
        [1.0, 1.0]
    """

    def __init__(
        self, weights: Float[Array, "N N"], scale: ArrayLike = 1.0, bias: Float[Array, "N"] | None = None
    ) -> None:
        weights = square_matrix("weights", weights)
        bias = None if bias is None else real_vector("bias", bias, like=weights[0]).astype(weights.dtype)
        sent = jnp.where(jnp.eye(weights.shape[0], dtype=bool), 0.0, weights.T)
        fill(self, matrix=sent, scale=jnp.asarray(scale, weights.dtype), bias=bias)

    replace = changed

    def energy_at(self, cache: Array, state: State) -> Float[Array, ""]:
        """NaN: there is no energy.

        Raises:
            FloatingPointError: `jax_debug_nans` is set.
        """
        if jax.config.jax_debug_nans:  # pyright: ignore[reportAttributeAccessIssue]
            raise FloatingPointError("energy must exist where jax_debug_nans is set, got asymmetric couplings")
        return jnp.full((), jnp.nan, cache.dtype)

    def cache(self, state: ArrayLike) -> Array:
        """Unscaled fields [N], carried by one-neuron-at-a-time dynamics."""
        field = self.as_state(state) @ self.matrix
        return field if self.bias is None else field + self.bias

    def descends(self, dynamics: Dynamics = "synchronous") -> bool:
        """False: asymmetric couplings have no energy E that could fall."""
        super().descends(dynamics)
        return False

    def memory(self) -> Memory:
        """Always raises ValueError: asymmetric couplings belong to no Memory."""
        raise ValueError("couplings must be symmetric to be a classical memory, got AsymmetricCouplings")

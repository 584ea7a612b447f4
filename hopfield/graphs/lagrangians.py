"""Lagrangians: convex functions of the states of a layer, whose gradients are its activations."""

import abc

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hopfield._numerics import safe_norm
from hopfield._pytrees import Node

States = Float[Array, "..."]


class Lagrangian(Node, abc.ABC):
    """A convex function L of a layer's states x [...]. Activations are g = ∇L(x), by autodiff.

    Example:
        >>> from hopfield import graphs
        >>> graphs.Tanh().activation(jnp.zeros(2)).tolist()
        [0.0, 0.0]
    """

    @abc.abstractmethod
    def __call__(self, x: States) -> Float[Array, ""]:
        """Value L(x) []."""

    def activation(self, x: States) -> States:
        """Activations g = ∇L(x), of the shape of x."""
        return jax.grad(self.__call__)(x)

    def legendre(self, x: States, g: States) -> Float[Array, ""]:
        """Legendre transform x·g − L(x), the energy of the layer itself at g = ∇L(x)."""
        return jnp.sum(x * g) - self(x)


class IdentityLagrangian(Lagrangian):
    """L = ½‖x‖²: activations are the states.

    Example:
        >>> from hopfield import graphs
        >>> graphs.IdentityLagrangian().activation(jnp.array([2.0, -1.0])).tolist()
        [2.0, -1.0]
    """

    def __call__(self, x):
        return 0.5 * jnp.sum(x * x)

    def activation(self, x):
        return x


class ReLU(Lagrangian):
    """L = Σ [x]₊²/2: activations are [x]₊.

    Example:
        >>> from hopfield import graphs
        >>> graphs.ReLU().activation(jnp.array([2.0, -1.0])).tolist()
        [2.0, 0.0]
    """

    def __call__(self, x):
        return 0.5 * jnp.sum(jnp.maximum(x, 0.0) ** 2)


class Softmax(Lagrangian):
    """L = log Σ e^{βx} / β over the last axis, summed over the others: activations are softmax(βx).

    Example:
        >>> from hopfield import graphs
        >>> graphs.Softmax(jnp.array(2.0)).activation(jnp.zeros(4)).tolist()
        [0.25, 0.25, 0.25, 0.25]
    """

    beta: Float[Array, ""] | float = 1.0

    def __call__(self, x):
        return jnp.sum(jax.nn.logsumexp(self.beta * x, axis=-1)) / self.beta


class Tanh(Lagrangian):
    """L = Σ log 2cosh(βx) / β: activations are tanh(βx).

    Example:
        >>> from hopfield import graphs
        >>> round(float(graphs.Tanh(2.0).activation(jnp.array(0.5))), 4)
        0.7616
    """

    beta: Float[Array, ""] | float = 1.0

    def __call__(self, x):
        return jnp.sum(jnp.logaddexp(self.beta * x, -self.beta * x)) / self.beta


class Spherical(Lagrangian):
    """L = radius ‖x‖ over the last axis, summed over the others: activations lie on a sphere, at 0 for x = 0.

    Example:
        >>> from hopfield import graphs
        >>> graphs.Spherical(5.0).activation(jnp.array([6.0, 8.0])).tolist()
        [3.0, 4.0]
    """

    radius: Float[Array, ""] | float = 1.0

    def __call__(self, x):
        return self.radius * jnp.sum(safe_norm(x, axis=-1))


class LayerNorm(Lagrangian):
    """L = Σ F γ √(var x + ε) + δ·x over the last axis, of width F: activations γ (x − mean x)/√(var x + ε) + δ.

    Example:
        >>> from hopfield import graphs
        >>> graphs.LayerNorm(epsilon=0.0).activation(jnp.array([3.0, 1.0])).tolist()
        [1.0, -1.0]
    """

    scale: Float[Array, ""] | float = 1.0
    shift: Float[Array, "F"] | float = 0.0
    epsilon: float = 1e-5

    def __call__(self, x):
        centred = x - jnp.mean(x, axis=-1, keepdims=True)
        spread = jnp.sqrt(jnp.mean(centred**2, axis=-1) + self.epsilon)
        return jnp.sum(x.shape[-1] * self.scale * spread) + jnp.sum(jnp.broadcast_to(self.shift, x.shape) * x)

"""Synapses: energies of the activations of one layer or several, of any shapes."""

import abc
from collections.abc import Callable

import jax
import jax.numpy as jnp
from flax import struct
from jaxtyping import Array, Float

from hopfield._pytrees import Node, fill
from hopfield.separations import LogSumExp, Separation, as_separation

Activations = Float[Array, "..."]


class Synapse(Node, abc.ABC):
    """An energy S of the activations of the layers that it joins, in their order.

    Example:
        >>> from hopfield import graphs
        >>> float(graphs.Bias(jnp.array([1.0, 2.0]))(jnp.array([1.0, 1.0])))
        -3.0
    """

    @abc.abstractmethod
    def __call__(self, *activations: Activations) -> Float[Array, ""]:
        """Energy S(g, g', …) [] of activations in the order of the layers."""


class Bias(Synapse):
    """S = −bias·g, a field from outside.

    Example:
        >>> from hopfield import graphs
        >>> float(graphs.Bias(jnp.array([0.5]))(jnp.array([2.0])))
        -1.0
    """

    bias: Float[Array, "..."]

    def __call__(self, *activations):
        (g,) = activations
        return -jnp.sum(jnp.broadcast_to(self.bias, g.shape) * g)


class BilinearSynapse(Synapse):
    """S = −g·W g' of two layers of vectors.

    Example:
        >>> from hopfield import graphs
        >>> float(graphs.BilinearSynapse(jnp.array([[2.0, 0.0]]))(jnp.array([1.0]), jnp.array([3.0, 4.0])))
        -6.0
    """

    weights: Float[Array, "A B"]

    def __call__(self, *activations):
        first, second = activations
        return -_overlap(first @ self.weights, second)


class Dense(Synapse):
    """S = −F(β X g)/β: patterns X [M, N] within a layer, F any separation. Rows of vectors are summed over.

    Example:
        >>> from hopfield import graphs
        >>> dense = graphs.Dense(jnp.array([[1.0, 0.0], [0.0, 1.0]]))
        >>> round(float(dense(jnp.array([1.0, 1.0]))), 4)  # −ln 2e
        -1.6931
    """

    patterns: Float[Array, "M N"]
    beta: Float[Array, ""] | float = 1.0
    separation: Separation = LogSumExp()

    def __post_init__(self) -> None:
        fill(self, separation=as_separation(self.separation))

    def __call__(self, *activations):
        (g,) = activations
        scores = jnp.reshape(self.beta * (g @ self.patterns.T), (-1, len(self.patterns)))
        return -jnp.sum(jax.vmap(self.separation.potential)(scores)) / self.beta


class Convolution(Synapse):
    """S = −g'·(W ∗ g), images g [H, W, C] and g' [H', W', D], kernel W [h, w, C, D].

    Example:
        >>> from hopfield import graphs
        >>> sums = graphs.Convolution(jnp.ones((2, 2, 1, 1)), padding="VALID")
        >>> float(sums(jnp.ones((2, 2, 1)), jnp.ones((1, 1, 1))))
        -4.0
    """

    kernel: Float[Array, "h w C D"]
    strides: tuple[int, int] = struct.field(pytree_node=False, default=(1, 1))
    padding: str = struct.field(pytree_node=False, default="SAME")

    def __call__(self, *activations):
        first, second = activations
        order = ("NHWC", "HWIO", "NHWC")
        image, kernel = (x.astype(jnp.result_type(first, self.kernel)) for x in (first[None], self.kernel))
        filtered = jax.lax.conv_general_dilated(image, kernel, self.strides, self.padding, dimension_numbers=order)
        return -_overlap(filtered[0], second)


class Attention(Synapse):
    """S = −Σ_h Σ_i F(β k_hj·q_hi over j)/β, q = W_q g of the first layer's tokens, k = W_k g' of the second's [T, F].

    Of one layer the tokens read each other, each all others but itself.

    Example:
        >>> from hopfield import graphs
        >>> one = jnp.ones((1, 1, 1))
        >>> float(graphs.Attention(one, one)(jnp.array([[2.0], [3.0]])))  # −(2·3 + 3·2)
        -12.0
    """

    query: Float[Array, "H F D"]
    key: Float[Array, "H F D"]
    beta: Float[Array, ""] | float = 1.0
    separation: Separation = LogSumExp()

    def __post_init__(self) -> None:
        fill(self, separation=as_separation(self.separation))

    def __call__(self, *activations):
        first, second = activations if len(activations) == 2 else (activations[0], activations[0])
        query, key = (jnp.einsum("tf,hfd->htd", g, w) for g, w in ((first, self.query), (second, self.key)))
        scores = self.beta * jnp.einsum("htd,hsd->hts", query, key)
        used = jnp.ones(scores.shape[1:], bool) if len(activations) == 2 else ~jnp.eye(len(first), dtype=bool)
        potentials = jax.vmap(lambda rows: jax.vmap(self.separation.potential)(rows, used))(scores)
        # A token that may read none adds nothing.
        return -jnp.sum(jnp.where(potentials == -jnp.inf, 0.0, potentials)) / self.beta


class Formula(Synapse):
    """S = function(parameters, g, g', …): a user-defined function, defined once at the top of a module.

    Example:
        >>> from hopfield import graphs
        >>> def product(strength, a, b, c):
        ...     return -strength * jnp.sum(a * b * c)
        >>> float(graphs.Formula(product, jnp.array(2.0))(*jnp.ones((3, 4))))
        -8.0
    """

    function: Callable = struct.field(pytree_node=False)
    parameters: object = None

    def __call__(self, *activations):
        return self.function(self.parameters, *activations)


def _overlap(field: Array, activations: Activations) -> Float[Array, ""]:
    """Sum of the products of a field with the activations it acts on, which have its shape. ValueError otherwise."""
    if field.shape != activations.shape:
        raise ValueError(f"activations must have the shape {field.shape} of their field, got {activations.shape}")
    return jnp.sum(field * activations)

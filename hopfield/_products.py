"""Products of attention, scores and softmax read-outs, with derivatives that transpose small factors only.

Where the derivative of a product is left to JAX, queries × keys are contracted along their first axis: on CPUs XLA does
that on one thread, or copies them. Here the rows of D components are transposed, and the barriers keep XLA from moving
that back to the larger factor.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hopfield._arrays import transposed
from hopfield._numerics import saved_for_derivative


def _transposed_copy(x: Array) -> Array:
    """A transposed copy of the rows."""
    return jax.lax.optimization_barrier(transposed(x))


@partial(jax.custom_jvp, nondiff_argnums=(2, 3))
def row_products(query: Array, key: Array, precision: Any, dtype: Any) -> Float[Array, "*b T S"]:
    """q_i · k_j of all pairs of rows [*b, T, S], in the type `dtype`."""
    return jnp.matmul(query, transposed(key), precision=precision, preferred_element_type=dtype)


@row_products.defjvp
def _row_products_jvp(precision, dtype, primals, tangents):
    (query, key), (d_query, d_key) = primals, tangents
    product = partial(jnp.matmul, precision=precision, preferred_element_type=dtype)
    by_key = transposed(product(transposed(_transposed_copy(d_key)), _transposed_copy(query)))
    return product(query, transposed(key)), product(d_query, transposed(key)) + by_key


@partial(jax.custom_jvp, nondiff_argnums=(2,))
def weighted_rows(weights: Array, value: Array, precision: Any) -> Float[Array, "*b T V"]:
    """Σ_j A_ij v_j [*b, T, V]."""
    return jnp.matmul(weights, value, precision=precision)


@weighted_rows.defjvp
def _weighted_rows_jvp(precision, primals, tangents):
    (weights, value), (d_weights, d_value) = primals, tangents
    product = partial(jnp.matmul, precision=precision)
    return product(weights, value), product(d_weights, value) + _by_value(weights, d_value, product)


def _by_value(weights: Array, d_value: Array, product: Callable) -> Array:
    """Change of a read-out with its values."""
    return transposed(jax.lax.optimization_barrier(product(_transposed_copy(d_value), transposed(weights))))


@partial(jax.custom_jvp, nondiff_argnums=(2,))
def softmax_read(scores: Array, value: Array, precision: Any) -> Float[Array, "*b T V"]:
    """softmax(s) v [*b, T, V]. It is zero, with its derivatives, where all scores of a row are −∞."""
    size, total = _exponentials(scores)
    return jnp.matmul(size, value, precision=precision) / total


@softmax_read.defjvp
def _softmax_read_jvp(precision, primals, tangents):
    (scores, value), (d_scores, d_value) = primals, tangents
    size, total = _exponentials(scores)
    product = partial(jnp.matmul, precision=precision)
    output = saved_for_derivative(product(size, value) / total)
    moved = size * d_scores
    change = product(moved, value) + _by_value(size, d_value, product)
    return output, (change - output * jnp.sum(moved, axis=-1, keepdims=True)) / total


def _exponentials(scores: Array) -> tuple[Array, Array]:
    """e^(s − max s) and their sums along the last axis. A row of only −∞ has the sum 1.

    The maximum of XLA on CPUs is −∞ at some shapes for a row of NaN, too.
    """
    top = saved_for_derivative(jax.lax.stop_gradient(jnp.max(scores, axis=-1, keepdims=True, initial=-jnp.inf)))
    size = jax.lax.optimization_barrier(jnp.exp(scores - jnp.where(top == -jnp.inf, 0.0, top)))
    total = saved_for_derivative(jnp.sum(size, axis=-1, keepdims=True))
    return size, jnp.where(total == 0, 1.0, total)

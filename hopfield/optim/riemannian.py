"""Gradient descent on manifolds, for parameters that are to stay normed, orthogonal or positive definite.

    grad = projection of the Euclidean gradient on the tangent space (or its image under the manifold's metric)
    θ ← retraction of θ along −η grad

Source: Absil, Mahony & Sepulchre, Optimization Algorithms on Matrix Manifolds (2008); for positive definite matrices
Pennec, Fillard & Ayache, IJCV 66, 41 (2006).
"""

import abc
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array

from hopfield.numerics import is_traced, unit
from hopfield.optim.natural import Schedule
from hopfield.pytrees import Node

Tree = Any


class Manifold(Node, abc.ABC):
    """Where an array of parameters lives; leading axes of matrices are batched."""

    @abc.abstractmethod
    def gradient(self, point: Array, euclidean: Array) -> Array:
        """The gradient in the manifold's metric, a tangent vector, from the Euclidean one."""

    @abc.abstractmethod
    def project(self, point: Array, vector: Array) -> Array:
        """The tangent vector nearest to any vector, which also carries one from a point nearby."""

    @abc.abstractmethod
    def retract(self, point: Array, tangent: Array) -> Array:
        """A point of the manifold in the direction of a tangent vector, right to first order at least."""

    @abc.abstractmethod
    def violation(self, point: Array) -> Array:
        """How far an array is from the manifold; 0 on it."""


class Euclidean(Manifold):
    """Every array."""

    def gradient(self, point, euclidean):
        return euclidean

    def project(self, point, vector):
        return vector

    def retract(self, point, tangent):
        return point + tangent

    def violation(self, point):
        return jnp.zeros((), point.dtype)


class Oblique(Manifold):
    """Rows of unit norm, such as patterns on a sphere. A step follows the great circle."""

    def gradient(self, point, euclidean):
        return self.project(point, euclidean)

    def project(self, point, vector):
        return vector - point * jnp.sum(point * vector, axis=-1, keepdims=True)

    def retract(self, point, tangent):
        length = jnp.sqrt(jnp.sum(tangent * tangent, axis=-1, keepdims=True))
        moving = length > 0
        direction = jnp.where(moving, tangent / jnp.where(moving, length, 1.0), 0.0)
        return unit(point * jnp.cos(length) + direction * jnp.sin(length))

    def violation(self, point):
        return jnp.max(jnp.abs(jnp.sum(point * point, axis=-1) - 1))


class Stiefel(Manifold):
    """Matrices [n, r] of orthonormal columns, n ≥ r: orthogonal projections. Steps are retracted by QR."""

    def gradient(self, point, euclidean):
        return self.project(point, euclidean)

    def project(self, point, vector):
        inner = jnp.swapaxes(point, -1, -2) @ vector
        return vector - point @ (inner + jnp.swapaxes(inner, -1, -2)) / 2

    def retract(self, point, tangent):
        q, r = jnp.linalg.qr(point + tangent)
        sign = jnp.sign(jnp.diagonal(r, axis1=-2, axis2=-1))
        return q * jnp.where(sign == 0, 1.0, sign)[..., None, :]  # the factor nearest to where it was

    def violation(self, point):
        eye = jnp.eye(point.shape[-1], dtype=point.dtype).reshape((1,) * (point.ndim - 2) + (point.shape[-1],) * 2)
        return jnp.max(jnp.abs(jnp.swapaxes(point, -1, -2) @ point - eye))


class PositiveDefinite(Manifold):
    """Symmetric positive definite matrices with the affine-invariant metric tr(P⁻¹ U P⁻¹ V); steps follow geodesics."""

    def gradient(self, point, euclidean):
        return point @ _symmetric(euclidean) @ point

    def project(self, point, vector):
        return _symmetric(vector)

    def retract(self, point, tangent):
        levels, vectors = jnp.linalg.eigh(point)
        root = (vectors * jnp.sqrt(levels)[..., None, :]) @ jnp.swapaxes(vectors, -1, -2)
        inverse = (vectors / jnp.sqrt(levels)[..., None, :]) @ jnp.swapaxes(vectors, -1, -2)
        inner = _symmetric(inverse @ tangent @ inverse)
        rates, axes = jnp.linalg.eigh(inner)
        moved = (axes * jnp.exp(rates)[..., None, :]) @ jnp.swapaxes(axes, -1, -2)
        return _symmetric(root @ moved @ root)

    def violation(self, point):
        skew = jnp.max(jnp.abs(point - jnp.swapaxes(point, -1, -2)))
        return jnp.maximum(skew, -jnp.min(jnp.linalg.eigvalsh(_symmetric(point))))


def _symmetric(matrix: Array) -> Array:
    return (matrix + jnp.swapaxes(matrix, -1, -2)) / 2


_NAMED: dict[str, Manifold] = {
    "euclidean": Euclidean(),
    "oblique": Oblique(),
    "stiefel": Stiefel(),
    "positive_definite": PositiveDefinite(),
}


class RiemannianState(NamedTuple):
    """Steps taken, the momentum, and the norm of the last Riemannian gradient (of its entries)."""

    count: Array
    momentum: Tree
    norm: Array


def riemannian_gradient_descent(
    learning_rate: Schedule, manifolds: Any = "euclidean", *, momentum: float = 0.0
) -> optax.GradientTransformationExtraArgs:
    """Gradient descent that keeps parameters on manifolds: after every update they satisfy their constraints.

    Args:
        learning_rate: η, a number or a schedule of the step.
        manifolds: for all parameters, or a pytree that is a prefix of theirs: "euclidean", "oblique" (rows of unit
            norm), "stiefel" (orthonormal columns), "positive_definite", or a `Manifold`.
        momentum: μ in [0, 1), carried along by projection on the next tangent space.

    Returns:
        A transform whose `update` needs `params`, which must lie on their manifolds at the start.

    Raises:
        ValueError: an unknown manifold, a momentum out of its range; in `init`, parameters off their manifold.
    """
    if not 0 <= momentum < 1:
        raise ValueError(f"momentum must lie in [0, 1), got {momentum}")
    known = lambda x: isinstance(x, str | Manifold)  # noqa: E731
    chosen = jax.tree.map(_manifold, manifolds, is_leaf=known)

    def each(params: Tree) -> Tree:
        """A manifold for every array."""
        leaf = lambda x: isinstance(x, Manifold)  # noqa: E731
        return jax.tree.map(lambda m, part: jax.tree.map(lambda _: m, part), chosen, params, is_leaf=leaf)

    def over(function, params: Tree, *more: Tree) -> Tree:
        leaf = lambda x: isinstance(x, Manifold)  # noqa: E731
        return jax.tree.map(function, each(params), params, *more, is_leaf=leaf)

    def init(params: Tree) -> RiemannianState:
        def check(manifold: Manifold, point: Array) -> Array:
            if not is_traced(point):
                off, allowed = float(manifold.violation(point)), 1e3 * float(jnp.finfo(point.dtype).eps)
                if not off <= allowed:
                    name = type(manifold).__name__
                    raise ValueError(f"params must lie on their manifold {name} at the start, got {off:.3g} off it")
            return jnp.zeros_like(point)

        zeros = over(check, params)
        dtype = jnp.result_type(*jax.tree.leaves(params))
        return RiemannianState(jnp.zeros((), jnp.int32), zeros, jnp.zeros((), dtype))

    def update(updates: Tree, state: RiemannianState, params: Tree | None = None, **extra: Any):
        del extra  # other transforms of a chain may need more
        if params is None:
            raise ValueError("params must be given to update: a gradient on a manifold depends on where it is taken")
        rate = learning_rate(state.count) if callable(learning_rate) else learning_rate
        gradient = over(lambda m, p, g: m.gradient(p, g), params, updates)
        carried = over(lambda m, p, v, g: momentum * m.project(p, v) + g, params, state.momentum, gradient)
        new = over(lambda m, p, d: m.retract(p, -rate * d), params, carried)
        step = jax.tree.map(lambda a, b: (a - b).astype(b.dtype), new, params)
        norm = optax.tree.norm(gradient).astype(state.norm.dtype)
        held = jax.tree.map(lambda d, p: d.astype(p.dtype), carried, params)
        return step, RiemannianState(cast(Array, optax.safe_increment(state.count)), held, norm)

    return optax.GradientTransformationExtraArgs(init, cast(Any, update))


def _manifold(manifold: Any) -> Manifold:
    if isinstance(manifold, Manifold):
        return manifold
    if manifold not in _NAMED:
        raise ValueError(f"manifolds must be {', '.join(_NAMED)} or a Manifold, got {manifold!r}")
    return _NAMED[manifold]

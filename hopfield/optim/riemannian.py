"""Gradient descent on manifolds, for parameters that are to stay normed, orthogonal or positive definite.

    grad = projection of the Euclidean gradient on the tangent space (or its image under the manifold's metric)
    v ← μ v + grad
    θ, v ← retraction of θ along −η v, v transported there

The mean of the Euclidean gradients of several parts of a batch has the mean gradient, so that `optax.MultiSteps` is
exact.

Source: Absil, Mahony & Sepulchre, Optimization Algorithms on Matrix Manifolds (2008), §8.1 for vector transport; for
positive definite matrices `hopfield.geometry.spd`.
"""

import abc
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, NamedTuple, cast

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array

from hopfield._arguments import nearest
from hopfield._arrays import Tree
from hopfield._numerics import is_traced, wide
from hopfield._pytrees import Node
from hopfield.geometry import spd, sphere
from hopfield.optim._rates import Schedule, check_params, check_rate, value_at
from hopfield.optim._safeguards import share


class Manifold(Node, abc.ABC):
    """Manifold of an array of parameters. Leading axes of matrices are batched.

    Example:
        >>> from hopfield.optim import Oblique
        >>> Oblique().project(jnp.array([[1.0, 0.0]]), jnp.array([[2.0, 3.0]])).tolist()
        [[0.0, 3.0]]
    """

    axes: ClassVar[int] = 0
    """Axes that a point has at least."""

    @abc.abstractmethod
    def gradient(self, point: Array, euclidean: Array) -> Array:
        """The gradient in the manifold's metric, a tangent vector, from the Euclidean one."""

    @abc.abstractmethod
    def project(self, point: Array, vector: Array) -> Array:
        """The tangent vector nearest to any vector."""

    @abc.abstractmethod
    def retract(self, point: Array, tangent: Array) -> Array:
        """A point of the manifold in the direction of a tangent vector, right to first order at least."""

    @abc.abstractmethod
    def transport(self, point: Array, tangent: Array, vector: Array) -> Array:
        """A tangent vector carried along the step `tangent` to where `retract` ends, a tangent vector there."""

    @abc.abstractmethod
    def violation(self, point: Array) -> Array:
        """Distance of an array from the manifold, 0 on it."""


class Euclidean(Manifold):
    """Arrays without a constraint. Steps go straight."""

    def gradient(self, point: Array, euclidean: Array) -> Array:
        return euclidean

    def project(self, point: Array, vector: Array) -> Array:
        return vector

    def retract(self, point: Array, tangent: Array) -> Array:
        return point + tangent

    def transport(self, point: Array, tangent: Array, vector: Array) -> Array:
        return vector

    def violation(self, point: Array) -> Array:
        return jnp.zeros((), point.dtype)


class Oblique(Manifold):
    """Rows of unit norm, such as patterns on a sphere. Steps follow great circles, momentum in parallel.

    Example:
        >>> from hopfield.optim import Oblique
        >>> moved = Oblique().retract(jnp.array([[1.0, 0.0]]), jnp.array([[0.0, jnp.pi / 2]]))
        >>> jnp.abs(moved.round(4)).tolist()
        [[0.0, 1.0]]
    """

    axes = 1

    def gradient(self, point: Array, euclidean: Array) -> Array:
        return self.project(point, euclidean)

    def project(self, point: Array, vector: Array) -> Array:
        return sphere.to_tangent(vector, point)

    def retract(self, point: Array, tangent: Array) -> Array:
        return sphere.exp(tangent, point)

    def transport(self, point: Array, tangent: Array, vector: Array) -> Array:
        return sphere.parallel_transport(vector, point, tangent)

    def violation(self, point: Array) -> Array:
        return jnp.max(jnp.abs(jnp.sum(point * point, axis=-1) - 1))


class Stiefel(Manifold):
    """Matrices [n, r] of orthonormal columns, n ≥ r: orthogonal projections. Steps are retracted by QR.

    Momentum is carried by projection on the next tangent space, the usual vector transport: right to first order in
    the step, after which inner products have shrunk. Parallel transport would take a matrix exponential of size 2r.

    Example:
        >>> from hopfield.optim import Stiefel
        >>> moved = Stiefel().retract(jnp.eye(3, 2), 0.1 * jnp.ones((3, 2)))
        >>> jnp.allclose(moved.T @ moved, jnp.eye(2), atol=1e-5).item()
        True
    """

    axes = 2

    def gradient(self, point: Array, euclidean: Array) -> Array:
        return self.project(point, euclidean)

    def project(self, point: Array, vector: Array) -> Array:
        inner = jnp.swapaxes(point, -1, -2) @ vector
        return vector - point @ (inner + jnp.swapaxes(inner, -1, -2)) / 2

    def retract(self, point: Array, tangent: Array) -> Array:
        q, r = jnp.linalg.qr(wide(point + tangent))
        sign = jnp.sign(jnp.diagonal(r, axis1=-2, axis2=-1))
        sign = jnp.where(sign == 0, 1.0, sign)[..., None, :]  # of the factor nearest to where it was
        # Above zeros a NaN is passed over by the reflections, and stands in the triangle alone.
        return q * jnp.where(jnp.isfinite(r).all((-2, -1), keepdims=True), sign, jnp.nan)

    def transport(self, point: Array, tangent: Array, vector: Array) -> Array:
        return self.project(self.retract(point, tangent), vector)

    def violation(self, point: Array) -> Array:
        eye = jnp.eye(point.shape[-1], dtype=jnp.result_type(point))
        eye = eye.reshape((1,) * (point.ndim - 2) + (point.shape[-1],) * 2)
        return jnp.max(jnp.abs(jnp.swapaxes(point, -1, -2) @ point - eye))


class PositiveDefinite(Manifold):
    """Symmetric positive definite matrices with the affine-invariant metric tr(P⁻¹ U P⁻¹ V).

    Steps follow geodesics, momentum in parallel. A step so large that its end is not positive definite to rounding
    is NaN, and so is everything after it.

    Example:
        >>> from hopfield.optim import PositiveDefinite
        >>> moved = PositiveDefinite().retract(jnp.eye(2), -5 * jnp.eye(2))
        >>> bool((jnp.linalg.eigvalsh(moved) > 0).all())
        True
    """

    axes = 2

    def gradient(self, point: Array, euclidean: Array) -> Array:
        return spd.symmetric(point @ spd.symmetric(euclidean) @ point)  # near an optimum products cancel

    def project(self, point: Array, vector: Array) -> Array:
        return spd.symmetric(vector)

    def retract(self, point: Array, tangent: Array) -> Array:
        end = spd.exp(spd.symmetric(tangent), point)
        return jnp.where(_definite(end)[..., None, None], end, jnp.nan)

    def transport(self, point: Array, tangent: Array, vector: Array) -> Array:
        return spd.parallel_transport(spd.symmetric(vector), point, spd.symmetric(tangent))

    def violation(self, point: Array) -> Array:
        """The largest skew entry. It is infinite where the least eigenvalue is not above n ε times the largest."""
        if point.shape[-1] != point.shape[-2]:
            return jnp.full((), jnp.inf, point.dtype)
        skew = jnp.max(jnp.abs(point - jnp.swapaxes(point, -1, -2)))
        return jnp.where(jnp.all(_definite(point)), skew, jnp.inf)


def _definite(point: Array) -> Array:
    """True if the least eigenvalue is above n ε times the largest."""
    levels = jnp.linalg.eigvalsh(spd.symmetric(wide(jax.lax.stop_gradient(point))))
    least = point.shape[-1] * jnp.finfo(point.dtype).eps * levels[..., -1]
    return (levels[..., 0] > least) & (levels[..., 0] > 0)


_NAMED: dict[str, Manifold] = {
    "euclidean": Euclidean(),
    "oblique": Oblique(),
    "stiefel": Stiefel(),
    "positive_definite": PositiveDefinite(),
}


class RiemannianState(NamedTuple):
    """Steps taken, the momentum where the next step starts, and the norm of the last gradient (of its entries)."""

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
        momentum: μ in [0, 1), transported along every step.
    Returns:
        A transform whose `update` needs `params`, which must lie on their manifolds at the start.
    Raises:
        ValueError: an unknown manifold, a momentum out of its range; in `init`, parameters off their manifold.
    """
    check_rate(learning_rate)
    share("momentum", momentum)
    is_manifold = lambda x: x is None or isinstance(x, str | Manifold)
    over = partial(_map_with_manifolds, jax.tree.map(_manifold, manifolds, is_leaf=is_manifold))

    def init(params: Tree) -> RiemannianState:
        check_params(params)
        dtype = jnp.result_type(*jax.tree.leaves(params))
        return RiemannianState(jnp.zeros((), jnp.int32), over(_at_rest, params), jnp.zeros((), dtype))

    def update(updates: Tree, state: RiemannianState, params: Tree | None = None, **extra: Any):
        del extra  # other transforms of a chain may need more
        if params is None:
            raise ValueError("params must be given to update: a gradient on a manifold depends on where it is taken")
        check_params(params, updates)
        rate = value_at(learning_rate, state.count)
        gradient = over(lambda m, p, g: m.gradient(p, g), params, updates)
        # The projection takes off what rounding has left outside the tangent space.
        velocity = over(lambda m, p, v, g: momentum * m.project(p, v) + g, params, state.momentum, gradient)
        step = over(lambda m, p, v: (m.retract(p, -rate * v) - p).astype(p.dtype), params, velocity)
        carry = lambda m, p, v: m.transport(p, -rate * v, v) if momentum else jnp.zeros_like(v)
        carried = over(lambda m, p, v: carry(m, p, v).astype(p.dtype), params, velocity)
        count, norm = optax.safe_increment(state.count), optax.tree.norm(gradient).astype(state.norm.dtype)
        return step, RiemannianState(cast(Array, count), carried, norm)

    return optax.GradientTransformationExtraArgs(init, cast(Any, update))


def _map_with_manifolds(chosen: Tree, function: Callable, params: Tree, *more: Tree) -> Tree:
    """`function` of manifold, parameter and entries of `more` by array. `chosen` may be a prefix of `params`."""
    leaf = lambda x: isinstance(x, Manifold)
    try:
        each = jax.tree.map(lambda m, part: jax.tree.map(lambda _: m, part), chosen, params, is_leaf=leaf)
    except ValueError as error:
        trees = f"{jax.tree.structure(chosen, is_leaf=leaf)} for {jax.tree.structure(params)}"
        raise ValueError(f"manifolds must be one, or a tree that is a prefix of that of params, got {trees}") from error
    return jax.tree.map(function, each, params, *more, is_leaf=leaf)


def _at_rest(manifold: Manifold, point: Array) -> Array:
    """Momentum of zero, of the shape of a parameter; ValueError for a parameter off its manifold."""
    if point.ndim < manifold.axes:
        name = type(manifold).__name__
        raise ValueError(f"params on {name} must have at least {manifold.axes} axes, got shape {point.shape}")
    if not is_traced(point):
        with jax.ensure_compile_time_eval():
            off, allowed = float(manifold.violation(point)), 1e3 * float(jnp.finfo(point.dtype).eps)
        if not off <= allowed:
            name = type(manifold).__name__
            raise ValueError(f"params must lie on their manifold {name} at the start, got {off:.3g} off it")
    return jnp.zeros_like(point)


def _manifold(manifold: Any) -> Manifold:
    if isinstance(manifold, Manifold):
        return manifold
    if not isinstance(manifold, str) or manifold not in _NAMED:
        hint = nearest(manifold, _NAMED)
        raise ValueError(f"manifolds must be {', '.join(_NAMED)} or a Manifold, got {manifold!r}{hint}")
    return _NAMED[manifold]

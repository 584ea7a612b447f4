"""Curved spaces given by a metric field x ↦ g(x) [n, n]: connection, geodesics, transport and curvature.

Everything is differentiated from the field itself. Geodesics solve ẍ^a = −Γ^a_bc ẋ^b ẋ^c by an adaptive Runge–Kutta
method. Index positions: Γ^a_bc is [a, b, c], R^a_bcd is [a, b, c, d]. Names follow geomstats; arguments are
vectors or points, then their base point, then the field, as elsewhere in `geometry` and in `metrics`.

Every function is compiled once per field, so that a field is best a function that is made once, not a new lambda per
call.

Source: do Carmo, Riemannian Geometry (1992); signs as in Misner, Thorne & Wheeler (1973).
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._arguments import integer, real_vector, shown
from hopfield._numerics import wide
from hopfield.geometry._points import alike
from hopfield.geometry._smooth import root_of
from hopfield.geometry.geodesics import LogInfo, shoot, unit_time_flow

Point = Float[Array, "n"]
Field = Callable[[Point], Array]
TOLERANCE = 1e-12
Function = TypeVar("Function", bound=Callable[..., Any])
_STATIC = ("metric", "tensor", "upper")


def _compiled(function: Function) -> Function:
    """The function as one program per field, its points and vectors real numbers [n]."""
    about = inspect.signature(function)
    vectors = {name for name, parameter in about.parameters.items() if parameter.annotation is Point}
    program = jax.jit(function, static_argnames=[name for name in about.parameters if name in _STATIC])

    @functools.wraps(function)
    def checked_call(*arguments, **options):
        bound = about.bind(*arguments, **options)
        if not callable(bound.arguments["metric"]):
            raise TypeError(f"metric must be a function x -> g(x), got {shown(bound.arguments['metric'])}")
        for name in vectors & bound.arguments.keys():
            bound.arguments[name] = wide(real_vector(name, bound.arguments[name]))
        given = {name: bound.arguments[name] for name in about.parameters if name in vectors & bound.arguments.keys()}
        *_, place = alike(**given)
        found, size = jax.eval_shape(bound.arguments["metric"], place), place.shape[0]
        if found.shape != (size, size):
            raise ValueError(f"metric must give a matrix [{size}, {size}] at points [{size}], got shape {found.shape}")
        return program(*bound.args, **bound.kwargs)

    return cast(Function, checked_call)


@_compiled
def inner_product(tangent_vec_a: Point, tangent_vec_b: Point, base_point: Point, metric: Field) -> Float[Array, ""]:
    """g_ab u^a v^b."""
    return tangent_vec_a @ metric(base_point) @ tangent_vec_b


@_compiled
def norm(vector: Point, base_point: Point, metric: Field) -> Float[Array, ""]:
    """√(g_ab v^a v^b), with derivative zero at zero."""
    return root_of(lambda v: inner_product(v, v, base_point, metric), vector)


@_compiled
def christoffels_first(base_point: Point, metric: Field) -> Float[Array, "n n n"]:
    """Γ_abc = ½(∂_b g_ac + ∂_c g_ab − ∂_a g_bc)."""
    slope = jax.jacfwd(metric)(base_point)  # [a, b, c] = ∂_c g_ab
    return 0.5 * (jnp.swapaxes(slope, 1, 2) + slope - jnp.transpose(slope, (2, 0, 1)))


@_compiled
def christoffels(base_point: Point, metric: Field) -> Float[Array, "n n n"]:
    """Γ^a_bc of the metric's own connection, symmetric in b and c."""
    lowered = christoffels_first(base_point, metric)
    size = base_point.shape[0]
    return jnp.linalg.solve(wide(metric(base_point)), lowered.reshape(size, -1)).reshape(lowered.shape)


@_compiled
def covariant_derivative(tensor: Field, base_point: Point, metric: Field, *, upper: int = 0) -> Array:
    """∇_c T of a tensor field of any type, the index of the derivative last.

    Args:
        tensor: x ↦ T(x) [n, ..., n], its `upper` contravariant indices first, the others covariant; a scalar has none.
        metric: x ↦ g(x).
    """
    value, derivative = tensor(base_point), jax.jacfwd(tensor)(base_point)
    if integer("upper", upper, 0) > value.ndim:
        raise ValueError(f"upper must be at most the {value.ndim} indices of the tensor, got {upper}")
    gamma = christoffels(base_point, metric)
    for index in range(value.ndim):
        moved = jnp.moveaxis(value, index, -1)
        if index < upper:  # Γ^a_cd T^d
            term = jnp.einsum("...d,acd->...ac", moved, gamma)
        else:  # −Γ^d_cb T_d
            term = -jnp.einsum("...d,dcb->...bc", moved, gamma)
        derivative = derivative + jnp.moveaxis(term, -2, index)
    return derivative


@_compiled
def exp(tangent_vec: Point, base_point: Point, metric: Field, *, tolerance: ArrayLike = TOLERANCE) -> Point:
    """End of the geodesic that leaves `base_point` with velocity `tangent_vec`, after unit time.

    The velocity at the end is `parallel_transport(tangent_vec, base_point, tangent_vec, metric)`. NaN for a geodesic
    that ends before, at a singularity of the metric or of its coordinates, or that takes more than 256 steps.
    """
    return _flow(metric, base_point, tangent_vec, (), tolerance)[0]


@_compiled
def parallel_transport(
    tangent_vec: Point, base_point: Point, direction: Point, metric: Field, *, tolerance: ArrayLike = TOLERANCE
) -> Point:
    """`tangent_vec` carried along the geodesic of `direction` to its end: u̇^a = −Γ^a_bc ẋ^b u^c. NaN as in `exp`."""
    return _flow(metric, base_point, direction, (tangent_vec,), tolerance)[2]


def log(
    point: Point, base_point: Point, metric: Field, *, tolerance: ArrayLike = TOLERANCE, max_iterations: ArrayLike = 50
) -> tuple[Point, LogInfo]:
    """The tangent vector at `base_point` whose geodesic ends at `point`, by damped Newton steps from the straight line.

    The nearest geodesic where the straight line is a fair guess: within the injectivity radius, short of it on strongly
    curved spaces. Another geodesic to the same point also counts as converged.

    Returns:
        The vector, and its residual, the number of geodesics tried, at most `max_iterations`, and whether it
        converged: the end is within 10 × tolerance × (1 + ‖point‖). Without convergence it is the best vector tried.
    """

    return _log(point, base_point, tolerance, max_iterations, metric)


def dist(
    point_a: Point, point_b: Point, metric: Field, *, tolerance: ArrayLike = TOLERANCE, max_iterations: ArrayLike = 50
) -> Float[Array, ""]:
    """Length of the geodesic that `log` finds. NaN if `log` has not converged."""
    tangent_vec, info = log(point_b, point_a, metric, tolerance=tolerance, max_iterations=max_iterations)
    return jnp.where(info.converged, norm(tangent_vec, point_a, metric), jnp.nan)


@_compiled
def riemann_tensor(base_point: Point, metric: Field) -> Float[Array, "n n n n"]:
    """R^a_bcd = ∂_c Γ^a_db − ∂_d Γ^a_cb + Γ^a_ce Γ^e_db − Γ^a_de Γ^e_cb."""
    gamma = christoffels(base_point, metric)
    slope = jax.jacfwd(lambda x: christoffels(x, metric))(base_point)  # [a, b, c, d] = ∂_d Γ^a_bc
    half = jnp.einsum("adbc->abcd", slope) + jnp.einsum("ace,edb->abcd", gamma, gamma)
    return half - jnp.swapaxes(half, 2, 3)


@_compiled
def ricci_tensor(base_point: Point, metric: Field) -> Float[Array, "n n"]:
    """R_bd = R^a_bad."""
    return jnp.einsum("abad->bd", riemann_tensor(base_point, metric))


@_compiled
def scalar_curvature(base_point: Point, metric: Field) -> Float[Array, ""]:
    """g^bd R_bd, which is 2/r² on a sphere of radius r in three dimensions."""
    return jnp.trace(jnp.linalg.solve(wide(metric(base_point)), ricci_tensor(base_point, metric)))


def pullback_metric(function: Callable[[Point], Point], metric: Field) -> Field:
    """The metric that a map into a curved space induces: x ↦ Jᵀ g(f(x)) J."""

    def metric_matrix(base_point: Point) -> Array:
        jacobian = jax.jacfwd(function)(base_point)
        return jacobian.T @ metric(function(base_point)) @ jacobian

    return metric_matrix


@_compiled
def _log(
    point: Point, base_point: Point, tolerance: ArrayLike, max_iterations: ArrayLike, metric: Field
) -> tuple[Point, LogInfo]:
    def miss(tangent_vec):
        end = _flow(metric, base_point, tangent_vec, (), tolerance)[0]
        return (end - point) / scale

    scale = 1.0 + jax.lax.stop_gradient(jnp.linalg.norm(point))
    velocity, info = shoot(miss, point - base_point, tolerance=10 * tolerance, max_iterations=max_iterations)
    return velocity, info._replace(residual=info.residual * scale)


def _flow(metric: Field, point: Point, velocity: Point, carried: tuple[Point, ...], tolerance: ArrayLike) -> Array:
    """Point, velocity and transported vectors after unit time, [2 + vectors, n]."""
    dtype = jnp.result_type(point, velocity, *carried, jnp.float32)
    start = jnp.stack([jnp.asarray(x, dtype) for x in (point, velocity, *carried)])

    def rate(flat: Array) -> Array:
        state = flat.reshape(start.shape)
        x, v = state[0], state[1]
        gamma = christoffels(x, metric)
        turned = -jnp.einsum("abc,b,kc->ka", gamma, v, state[1:])
        return jnp.concatenate([v[None], turned]).ravel()

    return unit_time_flow(rate, start.ravel(), tolerance).reshape(start.shape)

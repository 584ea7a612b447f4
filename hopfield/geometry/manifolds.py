"""Curved spaces given by a metric field x ↦ g(x) [n, n]: connection, geodesics, transport and curvature.

Everything is differentiated from the field itself. Geodesics solve ẍ^a = −Γ^a_bc ẋ^b ẋ^c by an adaptive Runge–Kutta
method (Dormand–Prince, `jax.experimental.ode`). Index positions: Γ^a_bc is [a, b, c], R^a_bcd is [a, b, c, d].

Source: do Carmo, Riemannian Geometry (1992); signs as in Misner, Thorne & Wheeler (1973).
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax.experimental.ode import odeint
from jaxtyping import Array, Float

Point = Float[Array, "n"]
Field = Callable[[Point], Array]


def christoffel_first(metric: Field, point: Point) -> Float[Array, "n n n"]:
    """Γ_abc = ½(∂_b g_ac + ∂_c g_ab − ∂_a g_bc)."""
    slope = jax.jacfwd(metric)(point)  # [a, b, c] = ∂_c g_ab
    return 0.5 * (jnp.swapaxes(slope, 1, 2) + slope - jnp.transpose(slope, (2, 0, 1)))


def christoffel(metric: Field, point: Point) -> Float[Array, "n n n"]:
    """Γ^a_bc of the metric's own connection, symmetric in b and c."""
    lowered = christoffel_first(metric, point)
    size = point.shape[0]
    return jnp.linalg.solve(metric(point), lowered.reshape(size, -1)).reshape(lowered.shape)


def covariant_derivative(metric: Field, tensor: Field, point: Point, *, upper: int = 0) -> Array:
    """∇_c T of a tensor field of any type, the index of the derivative last.

    Args:
        metric: x ↦ g(x).
        tensor: x ↦ T(x) [n, ..., n], its `upper` contravariant indices first, the others covariant; a scalar has none.
    """
    value, found = tensor(point), jax.jacfwd(tensor)(point)
    gamma = christoffel(metric, point)
    for index in range(value.ndim):
        moved = jnp.moveaxis(value, index, -1)
        if index < upper:  # Γ^a_cd T^d
            term = jnp.einsum("...d,acd->...ac", moved, gamma)
        else:  # −Γ^d_cb T_d
            term = -jnp.einsum("...d,dcb->...bc", moved, gamma)
        found = found + jnp.moveaxis(term, -2, index)
    return found


def exp(metric: Field, point: Point, tangent: Point, *, tolerance: float = 1e-11) -> tuple[Point, Point]:
    """End of the geodesic that leaves `point` with velocity `tangent` after unit time, and its velocity there."""
    return _flow(metric, point, tangent, None, tolerance)[:2]


def parallel_transport(
    metric: Field, point: Point, tangent: Point, vector: Point, *, tolerance: float = 1e-11
) -> Point:
    """`vector` carried along the geodesic of `tangent` to its end: u̇^a = −Γ^a_bc ẋ^b u^c."""
    return _flow(metric, point, tangent, vector, tolerance)[2]


def log(metric: Field, point: Point, end: Point, *, tolerance: float = 1e-11, steps: int = 30) -> Point:
    """The tangent vector whose geodesic ends at `end`, by damped Newton steps from the straight line.

    The nearest geodesic where the straight line is a fair guess: within the injectivity radius, short of it on strongly
    curved spaces.
    """

    def miss(tangent):
        return exp(metric, point, tangent, tolerance=tolerance)[0] - end

    def step(state):
        i, tangent, _ = state
        move = jnp.linalg.solve(jax.jacrev(miss)(tangent), miss(tangent))
        tries = 0.5 ** jnp.arange(6)
        gaps = jnp.stack([jnp.linalg.norm(miss(tangent - rate * move)) for rate in tries])
        best = jnp.nanargmin(gaps)
        return i + 1, tangent - tries[best] * move, gaps[best]

    def unsettled(state):
        return (state[0] < steps) & (state[2] > 10 * tolerance)

    start = end - point
    state = (jnp.zeros((), jnp.int32), start, jnp.linalg.norm(miss(start)))
    return jax.lax.while_loop(unsettled, step, state)[1]


def distance(metric: Field, point: Point, end: Point, **options) -> Float[Array, ""]:
    """Length of the geodesic that `log` finds."""
    tangent = log(metric, point, end, **options)
    return jnp.sqrt(tangent @ metric(point) @ tangent)


def riemann(metric: Field, point: Point) -> Float[Array, "n n n n"]:
    """R^a_bcd = ∂_c Γ^a_db − ∂_d Γ^a_cb + Γ^a_ce Γ^e_db − Γ^a_de Γ^e_cb."""
    gamma = christoffel(metric, point)
    slope = jax.jacfwd(lambda x: christoffel(metric, x))(point)  # [a, b, c, d] = ∂_d Γ^a_bc
    half = jnp.einsum("adbc->abcd", slope) + jnp.einsum("ace,edb->abcd", gamma, gamma)
    return half - jnp.swapaxes(half, 2, 3)


def ricci(metric: Field, point: Point) -> Float[Array, "n n"]:
    """R_bd = R^a_bad."""
    return jnp.einsum("abad->bd", riemann(metric, point))


def scalar_curvature(metric: Field, point: Point) -> Float[Array, ""]:
    """g^bd R_bd; 2/r² on a sphere of radius r in three dimensions."""
    return jnp.trace(jnp.linalg.solve(metric(point), ricci(metric, point)))


def pullback(metric: Field, function: Callable[[Point], Point]) -> Field:
    """The metric that a map into a curved space induces: x ↦ Jᵀ g(f(x)) J."""

    def induced(point: Point) -> Array:
        jacobian = jax.jacfwd(function)(point)
        return jacobian.T @ metric(function(point)) @ jacobian

    return induced


def _flow(metric: Field, point: Point, tangent: Point, vector: Point | None, tolerance: float):
    """Point, velocity and transported vector after unit time."""
    start = (point, tangent, tangent if vector is None else vector)

    def rate(state, _):
        x, v, u = state
        gamma = christoffel(metric, x)
        turn = jnp.einsum("abc,b->ac", gamma, v)
        return v, -turn @ v, -turn @ u

    path = odeint(rate, start, jnp.array([0.0, 1.0], point.dtype), rtol=tolerance, atol=tolerance)
    return jax.tree.map(lambda x: x[-1], path)

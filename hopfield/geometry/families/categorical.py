"""Distributions over K classes, p [K] with all p > 0: a part of a sphere of radius 2 by p ↦ 2√p.

    g = Σ u v / p      tangent vectors have Σ u = 0

Points that do not add up to 1 within 1e-3, or have negative entries, are refused, and traced ones NaN.
A geodesic is an arc of a great circle for √p, and leaves the family where a probability reaches zero.

Source: Rao 1945; Atkinson & Mitchell, Sankhyā A 43, 345 (1981). geomstats: `CategoricalMetric`.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from hopfield._numerics import safe_norm
from hopfield.geometry import sphere
from hopfield.geometry._points import alike, probabilities
from hopfield.geometry._smooth import root_of

Probabilities = Float[Array, "K"]
Tangent = Float[Array, "K"]


def metric_matrix(base_point: Probabilities) -> Float[Array, "K K"]:
    """diag(1/p), for vectors tangent to the simplex; in coordinates by `manifolds.pullback_metric`."""
    return jnp.diag(1.0 / probabilities("base_point", base_point))


def inner_product(tangent_vec_a: Tangent, tangent_vec_b: Tangent, base_point: Probabilities) -> Float[Array, ""]:
    """Σ u v / p."""
    base_point = probabilities("base_point", base_point)
    first, second, base_point = alike(tangent_vec_a=tangent_vec_a, tangent_vec_b=tangent_vec_b, base_point=base_point)
    return jnp.sum(first * second / base_point)


def norm(vector: Tangent, base_point: Probabilities) -> Float[Array, ""]:
    """√(Σ v²/p)."""
    vector, base_point = alike(vector=vector, base_point=probabilities("base_point", base_point))
    return root_of(lambda v: jnp.sum(v * v / base_point), vector)


def exp(tangent_vec: Tangent, base_point: Probabilities) -> Probabilities:
    """(√p cos θ + e sin θ)² with θ e = v / 2√p. NaN where the geodesic has left the family, see `exit_time`."""
    base_point = probabilities("base_point", base_point)
    end = sphere.exp(_to_sphere(tangent_vec, base_point), jnp.sqrt(base_point))
    return jnp.where(exit_time(tangent_vec, base_point) > 1, end**2, jnp.nan)


def exit_time(tangent_vec: Tangent, base_point: Probabilities) -> Float[Array, ""]:
    """Time at which the geodesic of a tangent vector first meets the boundary, a probability of zero; inf at rest.

    √p_i cos θt + e_i sin θt = 0 first at θt = atan2(√p_i, −e_i).
    """
    base_point = probabilities("base_point", base_point)
    lifted = _to_sphere(tangent_vec, base_point)
    angle = safe_norm(lifted)
    resting = angle == 0
    angle = jnp.where(resting, 1.0, angle)
    return jnp.where(resting, jnp.inf, jnp.min(jnp.arctan2(jnp.sqrt(base_point), -lifted / angle)) / angle)


def log(point: Probabilities, base_point: Probabilities) -> Tangent:
    """2√p times the arc from √p to √q: the one geodesic between them within the family."""
    root = jnp.sqrt(probabilities("base_point", base_point))
    return 2.0 * root * sphere.log(jnp.sqrt(probabilities("point", point)), root)


def dist(point_a: Probabilities, point_b: Probabilities) -> Float[Array, ""]:
    """2 arccos Σ √(p q), accurate for p near q."""
    first, second = probabilities("point_a", point_a), probabilities("point_b", point_b)
    return 2.0 * sphere.dist(jnp.sqrt(first), jnp.sqrt(second))


def parallel_transport(tangent_vec: Tangent, base_point: Probabilities, direction: Tangent) -> Tangent:
    """A tangent vector carried along the geodesic of `direction` to its end."""
    base_point = probabilities("base_point", base_point)
    root, along = jnp.sqrt(base_point), _to_sphere(direction, base_point)
    carried = sphere.parallel_transport(_to_sphere(tangent_vec, base_point), root, along)
    return 2.0 * sphere.exp(along, root) * carried


def _to_sphere(vector: Tangent, base_point: Probabilities) -> Tangent:
    """Tangent vector on the unit sphere at √p."""
    vector, base_point = alike(tangent_vec=vector, base_point=base_point)
    return vector / (2.0 * jnp.sqrt(base_point))

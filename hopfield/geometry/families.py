"""Fisher–Rao geometry of families of distributions: metrics, and distances and geodesics where they are known.

Source: Rao 1945; Atkinson & Mitchell 1981; Skovgaard, Scand. J. Stat. 11, 211 (1984); Pinele, Strapasson & Costa 2020.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from hopfield.numerics import safe_norm


def categorical_metric(probabilities: Float[Array, "n"]) -> Float[Array, "n n"]:
    """g = diag(1/p) + 1/p_0 in the coordinates p_1 … p_n of a distribution over n + 1 classes, p_0 = 1 − Σ p."""
    rest = 1.0 - jnp.sum(probabilities)
    return jnp.diag(1.0 / probabilities) + jnp.ones((probabilities.size,) * 2, probabilities.dtype) / rest


def categorical_distance(p: Float[Array, "K"], q: Float[Array, "K"]) -> Float[Array, ""]:
    """2 arccos Σ √(p q) of whole distributions: the angle on a sphere of radius 2. Accurate for p near q."""
    a, b = jnp.sqrt(p), jnp.sqrt(q)
    return 4.0 * jnp.arctan2(safe_norm(a - b), safe_norm(a + b))


def gaussian_metric(point: Float[Array, "2"]) -> Float[Array, "2 2"]:
    """g = diag(1, 2)/σ² in the coordinates (μ, σ)."""
    return jnp.diag(jnp.array([1.0, 2.0], point.dtype)) / point[1] ** 2


def gaussian_distance(a: Float[Array, "2"], b: Float[Array, "2"]) -> Float[Array, ""]:
    """√2 times the hyperbolic distance of (μ/√2, σ)."""
    gap = (a[0] - b[0]) ** 2 / 2 + (a[1] - b[1]) ** 2
    # arccosh(1 + 2 u²) = 2 arcsinh u, which does not cancel for neighbours
    return 2.0 * jnp.sqrt(2.0) * jnp.arcsinh(jnp.sqrt(gap / (4 * a[1] * b[1])))


def gaussian_exp(point: Float[Array, "2"], tangent: Float[Array, "2"]) -> Float[Array, "2"]:
    """End of the geodesic from (μ, σ): a half-ellipse over the μ-axis, or a vertical line."""
    x, y = point[0] / jnp.sqrt(2.0), point[1]
    u, v = tangent[0] / jnp.sqrt(2.0), tangent[1]
    length = safe_norm(jnp.stack([u, v])) / y
    size = jnp.where(length > 0, length, 1.0) * y
    sine, cosine = u / size, v / size
    # In the half-plane z = x + y (sinh s · sin + i) / (cosh s − sinh s · cos), unit speed, up for cos = 1.
    fall = jnp.cosh(length) - jnp.sinh(length) * cosine
    end = jnp.stack([jnp.sqrt(2.0) * (x + y * jnp.sinh(length) * sine / fall), y / fall])
    return jnp.where(length > 0, end, point)


def covariance_distance(a: Float[Array, "n n"], b: Float[Array, "n n"]) -> Float[Array, ""]:
    """√(½ Σ ln² λ_i), λ the eigenvalues of A⁻¹ B: between Gaussians of one mean with these covariances."""
    root = jnp.linalg.cholesky(a)
    inner = jnp.linalg.solve(root, jnp.linalg.solve(root, b).T)
    return safe_norm(jnp.log(jnp.linalg.eigvalsh((inner + inner.T) / 2))) / jnp.sqrt(2.0)

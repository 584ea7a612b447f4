"""How the public functions of geometry are called."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from hopfield.geometry import _smooth, factored_forms, families, induced, manifolds, spd, sphere, subspaces
from tests.hopfield.contracts.public import Case
from tests.hopfield.contracts.public_draws import (
    Draw,
    any_nan,
    case,
    definite,
    normal,
    positive,
    simplex,
    symmetric,
    unit,
)


def _field(x):
    """A metric of the plane, curved everywhere."""
    return jnp.eye(2) * jnp.exp(0.1 * jnp.sum(x * x))


def _form(x):
    return jnp.sum(x * x)


def _tensor(x):
    return x * jnp.sum(x * x)


def _on_field(name: str, *draws: Draw, **options) -> Case:
    function = getattr(manifolds, name)
    return case(f"geometry.manifolds.{name}", lambda *x: function(*x, _field), *draws, **options)


def _family(family, name: str, *draws: Draw, **more) -> Case:
    module = family.__name__.removeprefix("hopfield.")
    return case(f"{module}.{name}", getattr(family, name), *draws, **more)


def _normals(function: Callable) -> Callable:
    """A function of Gaussians as one of their means and covariances."""
    return lambda *x: function(
        *(families.normal.Normal(*map(jnp.asarray, pair)) for pair in zip(x[::2], x[1::2], strict=True))
    )


def _factored(first, second, other, key):
    return factored_forms.factored(first, second), factored_forms.factored(other, key)


def _between(function: Callable, *more: Any) -> Callable:
    return lambda *x: function(*_factored(*x), *more)


PLANE, TANGENT = normal(2), normal(2)
LINE = (normal(2), lambda rng: np.abs(rng.normal(size=2)) + 0.5)
MATRICES = (symmetric(3), definite(3))
GAUSSIAN = (normal(2), definite(2))
DIRECTION = (normal(2), symmetric(2))
FRAMES = (normal(5, 2), normal(5, 2))
PATTERNS = (normal(3), normal(6, 3))
GEOMETRY = (
    *(_on_field(name, PLANE) for name in ("christoffels", "christoffels_first")),
    *(_on_field(name, PLANE) for name in ("ricci_tensor", "riemann_tensor", "scalar_curvature")),
    *(_on_field(name, TANGENT, PLANE) for name in ("exp", "norm", "dist")),
    _on_field("log", TANGENT, PLANE, shows=any_nan),
    _on_field("inner_product", TANGENT, TANGENT, PLANE),
    _on_field("parallel_transport", TANGENT, PLANE, TANGENT),
    case(
        "geometry.manifolds.covariant_derivative", lambda x: manifolds.covariant_derivative(_tensor, x, _field), PLANE
    ),
    *(_family(spd, name, *MATRICES) for name in ("exp", "norm", "whitened")),
    *(_family(spd, name, definite(3), definite(3)) for name in ("log", "dist")),
    _family(spd, "inner_product", symmetric(3), *MATRICES),
    _family(spd, "parallel_transport", *MATRICES, symmetric(3)),
    _family(spd, "symmetric", normal(3, 3)),
    _family(sphere, "projection", normal(4)),
    *(_family(sphere, name, normal(4), unit(4)) for name in ("exp", "to_tangent")),
    *(_family(sphere, name, unit(4), unit(4)) for name in ("log", "dist")),
    _family(sphere, "parallel_transport", normal(4), unit(4), normal(4)),
    *(_family(families.categorical, name, normal(4), simplex(4)) for name in ("exp", "exit_time", "norm")),
    *(_family(families.categorical, name, simplex(4), simplex(4)) for name in ("log", "dist")),
    _family(families.categorical, "inner_product", normal(4), normal(4), simplex(4)),
    _family(families.categorical, "parallel_transport", normal(4), simplex(4), normal(4)),
    _family(families.categorical, "metric_matrix", simplex(4)),
    _family(families.centered_normal, "dist", definite(3), definite(3)),
    _family(families.centered_normal, "norm", *MATRICES),
    _family(families.centered_normal, "inner_product", symmetric(3), *MATRICES),
    *(
        _family(families.location_normal, n, normal(3), normal(3), definite(3), nan=(0, 1))
        for n in ("exp", "log", "dist")
    ),
    _family(families.location_normal, "norm", normal(3), normal(3), definite(3), nan=(0, 2)),
    _family(families.location_normal, "inner_product", normal(3), normal(3), normal(3), definite(3), nan=(0, 1, 3)),
    _family(families.location_normal, "metric_matrix", normal(3), definite(3), nan=(1,)),
    _family(families.location_normal, "parallel_transport", *[normal(3)] * 3, definite(3), nan=(0,)),
    _family(families.univariate_normal, "exp", *LINE),
    _family(families.univariate_normal, "norm", LINE[0], LINE[1], nan=(0,)),
    *(_family(families.univariate_normal, name, LINE[1], LINE[1]) for name in ("log", "dist")),
    _family(families.univariate_normal, "inner_product", LINE[0], *LINE, nan=(0, 1)),
    _family(families.univariate_normal, "parallel_transport", *LINE, LINE[0], nan=(0, 2)),
    _family(families.univariate_normal, "metric_matrix", LINE[1], nan=()),
    *(
        case(f"geometry.families.normal.{name}", _normals(getattr(families.normal, name)), *first, *GAUSSIAN, **more)
        for name, first, more in (
            ("exp", DIRECTION, {"shows": any_nan}),
            ("norm", DIRECTION, {"nan": (0, 1, 3)}),
            ("log", GAUSSIAN, {"shows": any_nan}),
            ("dist", GAUSSIAN, {}),
        )
    ),
    case(
        "geometry.families.normal.inner_product",
        _normals(families.normal.inner_product),
        *DIRECTION,
        *DIRECTION,
        *GAUSSIAN,
        nan=(0, 1, 2, 3, 5),
    ),
    *(
        case(f"geometry.induced.{name}", getattr(induced, name), *PATTERNS)
        for name in ("attention_metric_matrix", "attention_christoffels_first")
    ),
    case("geometry.induced.attention_christoffels", induced.attention_christoffels, *PATTERNS, nan=()),
    case("geometry.induced.fisher_length", induced.fisher_length, normal(4, 3), normal(6, 3)),
    case("geometry._smooth.arc", _smooth.arc, lambda rng: 0.02 * rng.random(5)),
    case("geometry._smooth.sinc", _smooth.sinc, positive(5)),
    case("geometry._smooth.versine", _smooth.versine, positive(5)),
    case("geometry._smooth.length", _smooth.length, positive(5)),
    case("geometry._smooth.root_of", lambda v: _smooth.root_of(_form, v), positive(5)),
    case("geometry._smooth.log_of_gram", _smooth.log_of_gram, definite(3)),
    case("geometry._smooth.of_spectrum", lambda m: _smooth.of_spectrum(jnp.log, m), definite(3)),
    case("geometry.subspaces.orthonormal_basis", subspaces.orthonormal_basis, FRAMES[0]),
    case("geometry.subspaces.principal_angles", subspaces.principal_angles, *FRAMES),
    case("geometry.subspaces.grassmann_distance", subspaces.grassmann_distance, *FRAMES),
    case("geometry.factored_forms.factored", factored_forms.factored, *FRAMES),
    case("geometry.factored_forms.product_distance", _between(factored_forms.product_distance), *FRAMES, *FRAMES),
    case("geometry.factored_forms.frobenius_distance", _between(factored_forms.frobenius_distance), *FRAMES, *FRAMES),
    case(
        "geometry.factored_forms.data_weighted_distance",
        lambda a, b, c, d, x: factored_forms.data_weighted_distance(*_factored(a, b, c, d), x),
        *FRAMES,
        *FRAMES,
        normal(7, 5),
    ),
    case(
        "geometry.subspaces.random_baseline",
        lambda seed: subspaces.random_baseline(jax.random.key(seed), 4, 2, samples=3),
        lambda rng: int(rng.integers(9)),
        nan=(),
    ),
)

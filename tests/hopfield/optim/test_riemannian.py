"""Gradient descent on manifolds: constraints held along the path, gradients in the right metric, known minima."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from hopfield.optim import Oblique, PositiveDefinite, Stiefel, riemannian_gradient_descent
from hopfield.optim.riemannian import Euclidean

MATRIX = jnp.diag(jnp.array([3.0, 2.0, 1.0, 0.5])) + 0.1
POINTS = {
    "oblique": jnp.eye(4)[:3] * 0.6 + 0.4,
    "stiefel": jnp.linalg.qr(jax.random.normal(jax.random.key(0), (2, 4, 2)))[0],
    "positive_definite": jnp.stack([MATRIX, jnp.eye(4)]),
}
POINTS["oblique"] = POINTS["oblique"] / jnp.linalg.norm(POINTS["oblique"], axis=1, keepdims=True)
MANIFOLDS = {"oblique": Oblique(), "stiefel": Stiefel(), "positive_definite": PositiveDefinite()}


def inner(manifold, point, u, v):
    """The manifold's metric."""
    if isinstance(manifold, PositiveDefinite):
        inverse = jnp.linalg.inv(point)
        return jnp.einsum("hij,hji->", inverse @ u, inverse @ v)
    return jnp.sum(u * v)


@pytest.mark.parametrize("name", MANIFOLDS)
def test_the_gradient_is_the_tangent_vector_that_represents_the_differential(name):
    """⟨grad, v⟩ in the metric = df(v) for every tangent vector v."""
    manifold, point = MANIFOLDS[name], POINTS[name]
    euclidean = jax.random.normal(jax.random.key(1), point.shape)
    gradient = manifold.gradient(point, euclidean)
    np.testing.assert_allclose(manifold.project(point, gradient), gradient, atol=1e-12)
    for key in jax.random.split(jax.random.key(2), 4):
        v = manifold.project(point, jax.random.normal(key, point.shape))
        np.testing.assert_allclose(inner(manifold, point, gradient, v), jnp.sum(euclidean * v), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", MANIFOLDS)
def test_retraction_stays_and_is_right_to_first_order(name):
    manifold, point = MANIFOLDS[name], POINTS[name]
    v = manifold.project(point, jax.random.normal(jax.random.key(3), point.shape))
    assert manifold.violation(manifold.retract(point, v)) < 1e-12
    np.testing.assert_allclose(manifold.retract(point, jnp.zeros_like(v)), point, atol=1e-12)
    gaps = [float(jnp.linalg.norm(manifold.retract(point, t * v) - point - t * v)) for t in (1e-2, 5e-3)]
    assert gaps[0] / gaps[1] == pytest.approx(4, rel=0.1)


@pytest.mark.parametrize("name", MANIFOLDS)
def test_transport_ends_in_the_tangent_space_and_keeps_inner_products_where_it_is_parallel(name):
    """On the Stiefel manifold the projection shrinks vectors, from the second order of the step on."""
    manifold, point = MANIFOLDS[name], POINTS[name]
    step, u, v = (manifold.project(point, jax.random.normal(jax.random.key(k), point.shape)) for k in (5, 6, 7))
    end = manifold.retract(point, step)
    carried = [manifold.transport(point, step, x) for x in (u, v)]
    for vector in carried:
        np.testing.assert_allclose(manifold.project(end, vector), vector, atol=1e-12)
    np.testing.assert_allclose(manifold.transport(point, jnp.zeros_like(step), u), u, atol=1e-12)
    if name == "stiefel":
        gaps = []
        for t in (1e-2, 5e-3):
            moved = [manifold.transport(point, t * step, x) for x in (u, v)]
            gaps.append(float(jnp.sum(u * v) - jnp.sum(moved[0] * moved[1])))
        assert gaps[0] / gaps[1] == pytest.approx(4, rel=0.1)
        return
    for i, j in ((0, 0), (0, 1), (1, 1)):
        before, after = inner(manifold, point, (u, v)[i], (u, v)[j]), inner(manifold, end, carried[i], carried[j])
        np.testing.assert_allclose(after, before, rtol=1e-10)


def test_the_path_keeps_every_constraint():
    params = POINTS | {"free": jnp.ones(3)}
    names = {name: name for name in POINTS} | {"free": "euclidean"}
    optimiser = riemannian_gradient_descent(0.01, names, momentum=0.8)
    state = optimiser.init(params)

    def loss(p):
        definite = p["positive_definite"]
        free = sum(jnp.sum(jnp.sin(p[name])) for name in ("oblique", "stiefel", "free"))
        return free + jnp.trace(definite.sum(0)) + jnp.trace(jnp.linalg.inv(definite).sum(0))

    step = jax.jit(lambda p, s: optimiser.update(jax.grad(loss)(p), s, p))
    first = float(loss(params))
    for _ in range(200):
        updates, state = step(params, state)
        params = optax.apply_updates(params, updates)
    assert float(loss(params)) < first
    for name, manifold in MANIFOLDS.items():
        assert float(manifold.violation(params[name])) < 1e-12, name


def test_the_leading_eigenvectors_are_found_on_the_stiefel_manifold():
    optimiser = riemannian_gradient_descent(0.1, "stiefel")
    p = POINTS["stiefel"][0]
    state = optimiser.init(p)
    step = jax.jit(lambda p, s: optimiser.update(jax.grad(lambda q: -jnp.trace(q.T @ MATRIX @ q))(p), s, p))
    for _ in range(400):
        update, state = step(p, state)
        p = p + update
    np.testing.assert_allclose(jnp.trace(p.T @ MATRIX @ p), jnp.sum(jnp.linalg.eigvalsh(MATRIX)[-2:]), rtol=1e-8)


def test_without_constraints_it_is_gradient_descent_with_momentum():
    ours, plain = riemannian_gradient_descent(0.1, Euclidean(), momentum=0.9), optax.sgd(0.1, momentum=0.9)
    p = q = jnp.array([1.0, -2.0])
    one, other = ours.init(p), plain.init(q)
    for _ in range(5):
        u, one = ours.update(2 * p, one, p)
        v, other = plain.update(2 * q, other)
        p, q = p + u, q + v
        np.testing.assert_allclose(p, q, rtol=1e-12)

"""Conjugate gradients that return numbers wherever there are any, and report what they have reached."""

import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.fisher.solvers import conjugate_gradient, dense_solve

MATRIX = np.diag([1.0, 10.0, 100.0, 3.0]) + 0.3
B = {"a": jnp.array([1.0, 2.0]), "b": jnp.array([[3.0], [4.0]])}


def product(x, matrix=MATRIX):
    flat = jnp.concatenate([x["a"], x["b"][:, 0]])
    image = jnp.asarray(matrix) @ flat
    return {"a": image[:2], "b": image[2:, None]}


def flat(x):
    return np.concatenate([x["a"], x["b"][:, 0]])


def test_as_many_steps_as_dimensions_solve():
    x, info = conjugate_gradient(product, B, tolerance=1e-12, max_iterations=10)
    np.testing.assert_allclose(flat(x), np.linalg.solve(MATRIX, flat(B)), rtol=1e-10)
    assert int(info.iterations) <= 6
    assert bool(info.converged)


def test_the_reported_residual_is_the_residual():
    for steps in (1, 2, 3):
        x, info = conjugate_gradient(product, B, damping=0.5, tolerance=1e-14, max_iterations=steps)
        left = flat(B) - MATRIX @ flat(x) - 0.5 * flat(x)
        assert float(info.residual) == pytest.approx(np.linalg.norm(left) / np.linalg.norm(flat(B)), rel=1e-10)
        assert not bool(info.converged)


@pytest.mark.parametrize("condition", [1e2, 1e4, 1e5])
def test_the_residual_is_that_of_the_solution_where_rounding_stops_it(condition):
    """The residual that steps carry along falls below 1e-6; of the solution in single precision more is left."""
    rng = np.random.default_rng(0)
    rotation = np.linalg.qr(rng.normal(size=(60, 60)))[0]
    matrix, b = (rotation * np.geomspace(1 / condition, 1, 60)) @ rotation.T, rng.normal(size=60)
    single = jnp.asarray(matrix, jnp.float32)
    x, info = conjugate_gradient(lambda v: single @ v, jnp.asarray(b, jnp.float32), tolerance=1e-6, max_iterations=1000)
    left = np.linalg.norm(b - matrix @ np.asarray(x, float)) / np.linalg.norm(b)
    assert float(info.residual) == pytest.approx(
        left, rel=0.1, abs=2.0**-22
    )  # rounding of a product in single precision
    assert bool(info.converged) == (float(info.residual) <= 1e-6)


@pytest.mark.parametrize("matrix", [-MATRIX, np.zeros((4, 4))], ids=["negative", "zero"])
def test_what_cannot_be_solved_gives_numbers_and_says_so(matrix):
    x, info = conjugate_gradient(lambda x: product(x, matrix), B)
    assert np.all(np.isfinite(flat(x)))
    assert not bool(info.converged)


def test_dense_solutions_of_singular_matrices_are_the_least_ones():
    rows = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]])
    matrix, b = rows.T @ rows, rows.T @ np.array([1.0, 3.0])
    np.testing.assert_allclose(
        dense_solve(jnp.asarray(matrix), jnp.asarray(b), 0.0), np.linalg.pinv(matrix) @ b, rtol=1e-6
    )
    np.testing.assert_allclose(
        dense_solve(jnp.asarray(matrix), jnp.asarray(b), 0.1), np.linalg.solve(matrix + 0.1 * np.eye(3), b), rtol=1e-12
    )

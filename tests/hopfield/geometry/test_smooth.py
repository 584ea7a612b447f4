"""Functions of squared lengths and of symmetric matrices: values, and derivatives at zero and at coincidence."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import expm, logm, sqrtm

from hopfield.geometry import _smooth


def test_functions_of_squares_have_the_value_on_both_sides_of_every_switch():
    squares = np.array([1e-12, 1e-3, 0.03, 0.9, 0.999999, 1.000001, 7.0])
    root = np.sqrt(squares)
    np.testing.assert_allclose(_smooth.sinc(squares), np.sin(root) / root, rtol=1e-14)
    np.testing.assert_allclose(_smooth.versine(squares[1:]), (1 - np.cos(root[1:])) / squares[1:], rtol=1e-12)
    np.testing.assert_allclose(_smooth.sinc(-squares[:5]), np.sinh(root[:5]) / root[:5], rtol=1e-14)
    np.testing.assert_allclose(_smooth.arc(squares[:3]), np.arctan(root[:3]) / root[:3], rtol=1e-14)
    np.testing.assert_allclose(_smooth.arc(-squares[:3]), np.arctanh(root[:3]) / root[:3], rtol=1e-14)


@pytest.mark.parametrize(
    ("function", "expected", "relative"), [(jnp.exp, expm, False), (jnp.log, logm, True), (jnp.sqrt, sqrtm, True)]
)
@pytest.mark.parametrize("levels", [[1.5, 1.5, 1.5], [2.0, 2.0, 0.3], [2.0, 1.9, 0.3]])
def test_matrix_functions_have_two_derivatives_where_eigenvalues_coincide(function, expected, relative, levels):
    """Against central differences of scipy, which knows no eigenvectors."""
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    matrix = turn @ np.diag(levels) @ turn.T
    v, u = (x + x.T for x in np.random.default_rng(1).normal(size=(2, 3, 3)))
    value = lambda x: np.real(expected(x))
    ours = jax.jit(lambda x: _smooth.of_spectrum(function, x, relative=relative))
    h = 1e-3
    slope = (
        8 * (value(matrix + h * v) - value(matrix - h * v)) - value(matrix + 2 * h * v) + value(matrix - 2 * h * v)
    ) / (12 * h)
    curved = (value(matrix + h * v) - 2 * value(matrix) + value(matrix - h * v)) / h**2

    @jax.jit
    def derivatives(x):
        first = lambda x: jax.jvp(ours, (x,), (v,))[1]
        return ours(x), *jax.jvp(first, (x,), (v,)), jax.grad(lambda x: jnp.sum(u * ours(x)))(x)

    found, first, second, back = derivatives(matrix)
    np.testing.assert_allclose(found, value(matrix), atol=1e-12)
    np.testing.assert_allclose(first, slope, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(second, curved, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(np.sum(back * v), np.sum(u * slope), rtol=1e-6, atol=1e-7)


def test_a_third_derivative_of_a_matrix_function_is_not_a_number_rather_than_wrong():
    function = lambda t: _smooth.of_spectrum(jnp.exp, t * jnp.eye(2), relative=False)[0, 0]
    second = jax.grad(jax.grad(function))
    curved, third = jax.jit(lambda t: (second(t), jax.grad(second)(t)))(0.3)
    assert float(curved) == pytest.approx(np.exp(0.3), rel=1e-12)
    assert np.isnan(third)

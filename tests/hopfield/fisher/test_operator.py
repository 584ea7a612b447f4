"""The Fisher information of a model as an operator: every route to it agrees, and it is what it is called."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from hopfield.fisher import as_likelihood, fisher

B, D, K = 7, 4, 3
INPUTS = jax.random.normal(jax.random.key(0), (B, D))
PARAMS = {
    "w": 0.5 * jax.random.normal(jax.random.key(1), (D, 5)),
    "b": jnp.array([0.1, -0.2, 0.3, 0.0, 0.2]),
    "v": 0.5 * jax.random.normal(jax.random.key(2), (5, K)),
}
V = jax.tree.map(lambda x: jax.random.normal(jax.random.key(3), x.shape), PARAMS)
NAMES = ["categorical", "bernoulli", "gaussian", "poisson"]


def model(params, inputs):
    return jnp.tanh(inputs @ params["w"] + params["b"][None]) @ params["v"]


@jax.jit
def matrix_of(found):
    return found.to_dense()


@jax.jit
def every_form(found, v):
    return found.to_dense(), found @ v, found.diagonal(), found.trace(), found.kernel(), found.rows()


@jax.jit
def solved(found, v, damping):
    options = {"tolerance": 1e-10, "max_iterations": 500}
    return {solver: found.solve(v, damping, solver=solver, **options) for solver in ("cg", "cholesky", "kernel")}


def by_hand(weights=None, likelihood="categorical"):
    """Σ w J ᵀ F_out J / Σ w with the whole Jacobian."""
    flat, unravel = ravel_pytree(PARAMS)
    jacobian = jax.jacobian(lambda p: model(unravel(p), INPUTS))(flat)
    family = as_likelihood(likelihood)
    inner = jax.vmap(lambda x: jax.vmap(lambda e: family.fisher_product(x, e))(jnp.eye(K)))(model(PARAMS, INPUTS))
    w = np.ones(B) if weights is None else np.asarray(weights, float)
    return np.einsum("n,nkp,nkj,njq->pq", w / w.sum(), jacobian, inner, jacobian)


@pytest.mark.parametrize("likelihood", NAMES)
@pytest.mark.parametrize("split", [True, False], ids=["inputs", "closure"])
def test_matrix_free_dense_and_rows_agree(likelihood, split):
    options = {"inputs": INPUTS} if split else {}
    found = fisher(model if split else lambda p: model(p, INPUTS), PARAMS, likelihood=likelihood, **options)
    dense = by_hand(likelihood=likelihood)
    matrix, product, diagonal, trace, kernel, rows = every_form(found, V)
    np.testing.assert_allclose(matrix, dense, atol=1e-12)
    np.testing.assert_allclose(ravel_pytree(product)[0], dense @ ravel_pytree(V)[0], rtol=1e-10)
    np.testing.assert_allclose(ravel_pytree(diagonal)[0], np.diag(dense), rtol=1e-10)
    np.testing.assert_allclose(trace, np.trace(dense), rtol=1e-12)
    np.testing.assert_allclose(kernel, rows @ rows.T, rtol=1e-12)
    assert rows.shape == (B * K, dense.shape[0])


@pytest.mark.parametrize("damping", [1e-3, 0.5])
def test_all_solvers_agree(damping):
    """Conjugate gradients, Cholesky, and the kernel form, which is Woodbury's identity."""
    found = fisher(model, PARAMS, likelihood="categorical", inputs=INPUTS)
    dense = by_hand()
    dense = dense + damping * np.eye(len(dense))
    expected = np.linalg.solve(dense, ravel_pytree(V)[0])
    for solver, (x, info) in solved(found, V, damping).items():
        np.testing.assert_allclose(ravel_pytree(x)[0], expected, rtol=1e-8, atol=1e-8, err_msg=solver)
        assert info.residual < 1e-9
        assert bool(info.converged)


def test_it_is_the_hessian_of_the_mean_loss_where_the_outputs_are_linear():
    def linear(w, x):
        return x @ w

    w, labels = PARAMS["w"][:, :3], jnp.array([0, 1, 2, 0, 1, 2, 0])
    loss = lambda w: -jnp.mean(as_likelihood("categorical").log_probability(linear(w, INPUTS), labels))
    hessian = jax.jit(jax.hessian(loss))(w).reshape(12, 12)
    found = matrix_of(fisher(linear, w, likelihood="categorical", inputs=INPUTS))
    np.testing.assert_allclose(found, hessian, atol=1e-13)


def test_half_the_quadratic_form_is_the_divergence_of_a_small_step():
    family = as_likelihood("categorical")
    found = fisher(model, PARAMS, likelihood=family, inputs=INPUTS)
    ratios = []
    for size in (1e-2, 1e-3):
        step = jax.tree.map(lambda x, size=size: size * x, V)
        moved = model(jax.tree.map(jnp.add, PARAMS, step), INPUTS)
        log_p, log_q = jax.nn.log_softmax(model(PARAMS, INPUTS)), jax.nn.log_softmax(moved)
        divergence = jnp.mean(jnp.sum(jnp.exp(log_p) * (log_p - log_q), axis=1))
        ratios.append(float(divergence / (0.5 * found.quadratic(step))))
    assert abs(ratios[1] - 1) < 5e-3
    assert abs(ratios[1] - 1) < 0.2 * abs(ratios[0] - 1)  # to third order in the step


def test_weights_and_token_masks_choose_the_terms():
    """A masked term is as if it were not there; a weight of 2 as if it were there twice."""
    mask = jnp.array([1, 1, 0, 1, 0, 1, 1], bool)
    found = fisher(model, PARAMS, likelihood="categorical", inputs=INPUTS, weights=mask)
    few = fisher(model, PARAMS, likelihood="categorical", inputs=INPUTS[mask])
    np.testing.assert_allclose(matrix_of(found), matrix_of(few), atol=1e-13)
    weights = jnp.array([1.0, 2.0, 0.5, 0.0, 1.0, 1.0, 3.0])
    found = fisher(model, PARAMS, likelihood="categorical", inputs=INPUTS, weights=weights)
    np.testing.assert_allclose(matrix_of(found), by_hand(weights), atol=1e-13)
    sequences = INPUTS[:6].reshape(2, 3, D)
    tokens = jnp.array([[1, 1, 0], [1, 0, 0]], bool)
    found = fisher(
        lambda p, x: jax.vmap(lambda x: model(p, x))(x), PARAMS, likelihood="poisson", inputs=sequences, weights=tokens
    )
    few = fisher(model, PARAMS, likelihood="poisson", inputs=INPUTS[jnp.array([0, 1, 3])])
    np.testing.assert_allclose(matrix_of(found), matrix_of(few), atol=1e-13)
    np.testing.assert_allclose(ravel_pytree(found @ V)[0], ravel_pytree(few @ V)[0], atol=1e-13)


def test_monte_carlo_is_exact_on_average():
    options = {"likelihood": "categorical", "inputs": INPUTS, "kind": "monte_carlo", "samples": 20}
    drawn = jax.jit(jax.vmap(lambda key: fisher(model, PARAMS, key=key, **options).to_dense()))
    draws = drawn(jax.random.split(jax.random.key(0), 40))
    mean, error = np.mean(draws, 0), np.std(draws, 0) / np.sqrt(40)
    assert np.mean(np.abs(mean - by_hand()) < 3 * error + 1e-12) > 0.98


def test_a_product_takes_at_most_twice_the_operations_of_a_gradient():
    """By the compiler's own count: 3 parts for a gradient, 5 for a product (forward, tangent, and back)."""
    x, labels = jax.random.normal(jax.random.key(10), (64, 32)), jnp.zeros(64, int)
    sizes = {"w": (32, 48), "b": (48,), "v": (48, 10)}
    params = {name: jnp.ones(shape) for name, shape in sizes.items()}
    family = as_likelihood("categorical")

    def loss(p):
        return -jnp.mean(family.log_probability(model(p, x), labels))

    def product(p, v):
        return fisher(model, p, likelihood=family, inputs=x) @ v

    gradient = jax.jit(jax.grad(loss)).lower(params).compile().cost_analysis()["flops"]
    assert jax.jit(product).lower(params, params).compile().cost_analysis()["flops"] < 2 * gradient

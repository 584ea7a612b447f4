"""Natural gradient descent: Newton's method where that is known, invariance, adaptation of the damping, refusals."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.fisher import as_likelihood
from hopfield.optim import natural_gradient

X = jax.random.normal(jax.random.key(0), (40, 3))
Y = (jax.random.uniform(jax.random.key(1), (40, 1)) < jax.nn.sigmoid(X @ jnp.array([[1.0], [-0.5], [0.3]]))).astype(
    float
)


def linear(w, x):
    return x @ w


def loss_of(model, likelihood, targets, inputs=X):
    family = as_likelihood(likelihood)
    return lambda p: -jnp.mean(family.log_probability(model(p, inputs), targets))


def path(optimiser, params, targets, steps, inputs=X):
    state, seen = optimiser.init(params), [params]
    for _ in range(steps):
        params, state = optimiser.step(params, state, inputs, targets)
        seen.append(params)
    return seen, state


def test_at_unit_rate_it_is_iteratively_reweighted_least_squares():
    optimiser = natural_gradient(linear, "bernoulli", damping=0.0, solver="cholesky")
    seen, _ = path(optimiser, jnp.zeros((3, 1)), Y, 5)
    w = np.zeros(3)
    x, y = np.asarray(X), np.asarray(Y)[:, 0]
    for step in range(5):
        p = 1 / (1 + np.exp(-x @ w))
        weight = p * (1 - p)
        working = x @ w + (y - p) / weight
        w = np.linalg.solve(x.T @ (weight[:, None] * x), x.T @ (weight * working))
        np.testing.assert_allclose(seen[step + 1][:, 0], w, rtol=1e-10)


@pytest.mark.parametrize("solver", ["cg", "cholesky"])
def test_one_step_ends_at_the_optimum_of_a_linear_gaussian_model(solver):
    targets = jax.random.normal(jax.random.key(2), (40, 2))
    optimiser = natural_gradient(linear, "gaussian", damping=0.0, solver=solver, tolerance=1e-12)
    seen, state = path(optimiser, jnp.ones((3, 2)), targets, 1)
    np.testing.assert_allclose(seen[1], jnp.linalg.lstsq(X, targets)[0], rtol=1e-9)
    assert state.residual < 1e-9


def test_a_linear_change_of_parameters_leaves_the_path_unchanged():
    """θ = A φ: the paths of θ and A φ agree, undamped."""
    a = jax.random.normal(jax.random.key(3), (3, 3)) + 2 * jnp.eye(3)
    of = lambda model: natural_gradient(model, "bernoulli", 0.3, damping=0.0, solver="cholesky")
    start = jnp.array([[0.2], [0.1], [-0.3]])
    one, _ = path(of(linear), start, Y, 8)
    other, _ = path(of(lambda phi, x: linear(a @ phi, x)), jnp.linalg.solve(a, start), Y, 8)
    for w, phi in zip(one, other, strict=True):
        np.testing.assert_allclose(a @ phi, w, rtol=1e-10, atol=1e-12)


def test_a_nonlinear_change_of_parameters_leaves_it_unchanged_to_first_order():
    """w = sinh φ: after one unit of time the paths differ in proportion to the step."""
    start = jnp.array([[0.2], [0.1], [-0.3]])
    curved = lambda phi, x: linear(jnp.sinh(phi), x)

    def end(model, begin):
        """End of one unit of time in any number of steps."""

        @jax.jit
        def walk(steps):
            optimiser = natural_gradient(model, "bernoulli", 1.0 / steps, damping=0.0, solver="cholesky")
            step = lambda _, both: optimiser.step(*both, X, Y)
            return jax.lax.fori_loop(0, steps, step, (begin, optimiser.init(begin)))[0]

        return walk

    one, other = end(linear, start), end(curved, jnp.arcsinh(start))
    gaps = [float(jnp.max(jnp.abs(jnp.sinh(other(steps)) - one(steps)))) for steps in (8, 16, 32)]
    assert gaps[0] / gaps[1] == pytest.approx(2, abs=0.2)
    assert gaps[1] / gaps[2] == pytest.approx(2, abs=0.1)


def test_all_solvers_take_the_same_step():
    model = lambda p, x: jnp.tanh(x @ p["a"]) @ p["b"]
    params = {"a": 0.5 * jax.random.normal(jax.random.key(4), (3, 4)), "b": jnp.ones((4, 1))}
    steps = []
    for solver in ("cg", "cholesky", "kernel", "auto"):
        optimiser = natural_gradient(
            model, "bernoulli", damping=1e-2, solver=solver, tolerance=1e-12, max_iterations=300
        )
        seen, _ = path(optimiser, params, Y, 1)
        steps.append(jnp.concatenate([x.ravel() for x in jax.tree.leaves(seen[1])]))
    for other in steps[1:]:
        np.testing.assert_allclose(other, steps[0], rtol=1e-8)


def test_levenberg_marquardt_rejects_what_does_not_help_and_still_arrives():
    """Outputs bent far from linear, steps of four lengths: they overshoot; every accepted one lowers the loss."""
    model = lambda w, x: jnp.exp(3 * linear(w, x))
    targets = model(jnp.array([[0.3], [-0.2], [0.1]]), X)
    loss = loss_of(model, "gaussian", targets)
    optimiser = natural_gradient(model, "gaussian", 4.0, initial_damping=1e-3, solver="cholesky")
    params = jnp.array([[-0.4], [0.5], [0.4]])
    state, losses, rejected = optimiser.init(params), [float(loss(params))], 0
    for _ in range(60):
        before, last = state.damping, params
        params, state = optimiser.step(params, state, X, targets)
        value = state.loss
        assert float(value) == pytest.approx(losses[-1], rel=1e-12)
        if not state.accepted:
            rejected += 1
            assert jnp.all(params == last)
            # Where the loss is the least there is, ½ ln 2π, its rounding says nothing of the damping.
            assert state.damping > before or float(value) == pytest.approx(0.5 * np.log(2 * np.pi), rel=1e-14)
        losses.append(float(loss(params)))
    assert rejected > 0
    assert np.all(np.diff(losses) <= 1e-9 * np.abs(losses[0]))
    np.testing.assert_allclose(params[:, 0], [0.3, -0.2, 0.1], atol=1e-6)


@pytest.mark.parametrize("rate", [0.05, 0.5, 1.0, 1.9])
def test_a_quadratic_loss_falls_as_forecast_by_a_step_of_any_length(rate):
    """The Fisher information of a linear Gaussian model is the Hessian of its loss, so that the gain is one."""
    optimiser = natural_gradient(linear, "gaussian", rate, initial_damping=1e-3, solver="cholesky")
    _, state = path(optimiser, jnp.ones((3, 1)), Y, 1)
    assert float(state.gain) == pytest.approx(1.0, rel=1e-6)
    assert state.damping == 0.5e-3


def test_the_damping_rests_where_the_loss_falls_by_less_than_its_rounding():
    best = jnp.linalg.lstsq(X, Y)[0]
    optimiser = natural_gradient(linear, "gaussian", initial_damping=1e-3, solver="cholesky")
    _, state = path(optimiser, best, Y, 5)
    assert state.damping == 1e-3


def test_weights_and_a_penalty_are_part_of_the_loss():
    """Weighted regression with a linear penalty in one step; targets of no weight may be anything."""
    weights = jnp.arange(40.0) % 3
    targets = jnp.where(weights[:, None] == 0, jnp.nan, Y)
    optimiser = natural_gradient(linear, "gaussian", damping=0.0, solver="cholesky", penalty=lambda w: w[0, 0])
    w = jnp.zeros((3, 1))
    after, _ = optimiser.step(w, optimiser.init(w), X, targets, weights=weights)
    share = weights[:, None] / weights.sum()
    right = X.T @ (share * Y) - jnp.array([[1.0], [0.0], [0.0]])
    np.testing.assert_allclose(after, jnp.linalg.solve(X.T @ (share * X), right), rtol=1e-9)


@pytest.mark.parametrize(("size", "stride"), [(40, 10), (19, 9)])
def test_a_part_of_the_examples_is_another_one_at_every_step(size, stride):
    """F of ten examples, the gradient of all. Places ten apart of 19 examples would all be the first."""
    optimiser = natural_gradient(linear, "gaussian", damping=0.1, solver="cholesky", examples=10)
    w, state, x, y = jnp.zeros((3, 1)), optimiser.init(jnp.zeros((3, 1))), X[:size], Y[:size]
    for count in range(4):
        first = stride * count % (size - 9)
        part, slope = x[first : first + 10], x.T @ (x @ w - y) / size
        expected = w - jnp.linalg.solve(part.T @ part / 10 + 0.1 * jnp.eye(3), slope)
        w, state = optimiser.step(w, state, x, y)
        np.testing.assert_allclose(w, expected, rtol=1e-9)


def test_products_and_lengths_of_a_step_are_counted():
    """Two iterations take a product each, one for the start, with nothing left over, and one for the end."""
    options = {"solver": "cg", "tolerance": 0.0, "max_iterations": 2}
    optimiser = natural_gradient(linear, "bernoulli", **options)
    _, state = path(optimiser, jnp.zeros((3, 1)), Y, 1)
    assert (int(state.iterations), int(state.products), int(state.lengths)) == (2, 4, 1)
    fixed = natural_gradient(linear, "bernoulli", damping=0.1, **options)
    assert int(path(fixed, jnp.zeros((3, 1)), Y, 1)[1].lengths) == 0


def test_conjugate_gradients_take_the_curvature_of_64_examples_and_the_gradient_of_all():
    inputs = jax.random.normal(jax.random.key(5), (128, 3))
    targets, w, lam = jnp.tanh(inputs[:, :1]), jnp.ones((3, 1)), 0.1
    optimiser = natural_gradient(linear, "gaussian", damping=lam, solver="cg", tolerance=1e-12)
    step = path(optimiser, w, targets, 1, inputs)[0][1] - w
    slope = inputs.T @ (inputs @ w - targets) / 128
    part = inputs[:64].T @ inputs[:64] / 64
    np.testing.assert_allclose(step, -np.linalg.solve(part + lam * np.eye(3), slope), rtol=1e-9)
    whole = path(natural_gradient(linear, "gaussian", damping=lam), w, targets, 1, inputs)[0][1] - w
    full = inputs.T @ inputs / 128
    np.testing.assert_allclose(whole, -np.linalg.solve(full + lam * np.eye(3), slope), rtol=1e-9)

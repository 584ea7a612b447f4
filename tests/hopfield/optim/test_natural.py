"""Natural gradient descent: Newton's method where that is known, invariance, adaptation of the damping, refusals."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx

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


def step_of(optimiser, model, loss, inputs=X):
    """(params, state) ↦ (params, state, updates, loss before)."""

    def step(params, state):
        value, grads = jax.value_and_grad(loss)(params)
        told = {"model_fn": model, "inputs": inputs, "value": value, "value_fn": loss}
        updates, state = optimiser.update(grads, state, params, **told)
        return optax.apply_updates(params, updates), state, updates, value

    return step


def path(optimiser, model, params, loss, steps, inputs=X):
    state, seen, step = optimiser.init(params), [params], jax.jit(step_of(optimiser, model, loss, inputs))
    for _ in range(steps):
        params, state, _, _ = step(params, state)
        seen.append(params)
    return seen, state


def test_at_unit_rate_it_is_iteratively_reweighted_least_squares():
    optimiser = natural_gradient(1.0, likelihood="bernoulli", damping=0.0, solver="cholesky")
    seen, _ = path(optimiser, linear, jnp.zeros((3, 1)), loss_of(linear, "bernoulli", Y), 5)
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
    optimiser = natural_gradient(1.0, likelihood="gaussian", damping=0.0, solver=solver, tolerance=1e-12)
    seen, state = path(optimiser, linear, jnp.ones((3, 2)), loss_of(linear, "gaussian", targets), 1)
    np.testing.assert_allclose(seen[1], jnp.linalg.lstsq(X, targets)[0], rtol=1e-9)
    assert state.residual < 1e-9


def test_a_linear_change_of_parameters_leaves_the_path_unchanged():
    """θ = A φ: the paths of θ and A φ agree, undamped."""
    a = jax.random.normal(jax.random.key(3), (3, 3)) + 2 * jnp.eye(3)
    optimiser = natural_gradient(0.3, likelihood="bernoulli", damping=0.0, solver="cholesky")
    start = jnp.array([[0.2], [0.1], [-0.3]])
    loss = loss_of(linear, "bernoulli", Y)
    one, _ = path(optimiser, linear, start, loss, 8)
    turned = lambda phi, x: linear(a @ phi, x)
    other, _ = path(optimiser, turned, jnp.linalg.solve(a, start), loss_of(turned, "bernoulli", Y), 8)
    for w, phi in zip(one, other, strict=True):
        np.testing.assert_allclose(a @ phi, w, rtol=1e-10, atol=1e-12)


def test_a_nonlinear_change_of_parameters_leaves_it_unchanged_to_first_order():
    """w = sinh φ: after one unit of time the paths differ in proportion to the step."""
    start = jnp.array([[0.2], [0.1], [-0.3]])
    curved = lambda phi, x: linear(jnp.sinh(phi), x)

    def end(model, begin):
        """Of one unit of time in any number of steps."""

        @jax.jit
        def walk(steps):
            optimiser = natural_gradient(1.0 / steps, likelihood="bernoulli", damping=0.0, solver="cholesky")
            step = step_of(optimiser, model, loss_of(model, "bernoulli", Y))
            return jax.lax.fori_loop(0, steps, lambda _, both: step(*both)[:2], (begin, optimiser.init(begin)))[0]

        return walk

    one, other = end(linear, start), end(curved, jnp.arcsinh(start))
    gaps = [float(jnp.max(jnp.abs(jnp.sinh(other(steps)) - one(steps)))) for steps in (8, 16, 32)]
    assert gaps[0] / gaps[1] == pytest.approx(2, abs=0.2)
    assert gaps[1] / gaps[2] == pytest.approx(2, abs=0.1)


def test_all_solvers_take_the_same_step():
    model = lambda p, x: jnp.tanh(x @ p["a"]) @ p["b"]
    params = {"a": 0.5 * jax.random.normal(jax.random.key(4), (3, 4)), "b": jnp.ones((4, 1))}
    loss = loss_of(model, "bernoulli", Y)
    steps = []
    for solver in ("cg", "cholesky", "kernel", "auto"):
        optimiser = natural_gradient(
            1.0, likelihood="bernoulli", damping=1e-2, solver=solver, tolerance=1e-12, max_iterations=300
        )
        seen, _ = path(optimiser, model, params, loss, 1)
        steps.append(jnp.concatenate([x.ravel() for x in jax.tree.leaves(seen[1])]))
    for other in steps[1:]:
        np.testing.assert_allclose(other, steps[0], rtol=1e-8)


def test_levenberg_marquardt_rejects_what_does_not_help_and_still_arrives():
    """Outputs bent far from linear: plain steps overshoot; every accepted one lowers the loss."""
    model = lambda w, x: jnp.exp(3 * linear(w, x))
    targets = model(jnp.array([[0.3], [-0.2], [0.1]]), X)
    loss = loss_of(model, "gaussian", targets)
    optimiser = natural_gradient(1.0, likelihood="gaussian", damping="lm", initial_damping=1e-3, solver="cholesky")
    params = jnp.array([[-0.4], [0.5], [0.4]])
    state, losses, rejected = optimiser.init(params), [float(loss(params))], 0
    step = jax.jit(step_of(optimiser, model, loss))
    for _ in range(60):
        before = state.damping
        params, state, updates, value = step(params, state)
        assert float(value) == pytest.approx(losses[-1], rel=1e-12)
        if not state.accepted:
            rejected += 1
            assert jnp.all(updates == 0)
            # Where the loss is the least there is, ½ ln 2π, its rounding says nothing of the damping.
            assert state.damping > before or float(value) == pytest.approx(0.5 * np.log(2 * np.pi), rel=1e-14)
        losses.append(float(loss(params)))
    assert rejected > 0
    assert np.all(np.diff(losses) <= 1e-9 * np.abs(losses[0]))
    np.testing.assert_allclose(params[:, 0], [0.3, -0.2, 0.1], atol=1e-6)


@pytest.mark.parametrize("rate", [0.05, 0.5, 1.0, 1.9])
def test_a_quadratic_loss_falls_as_forecast_by_a_step_of_any_length(rate):
    """The Fisher information of a linear Gaussian model is the Hessian of its loss, so that the gain is one."""
    optimiser = natural_gradient(rate, likelihood="gaussian", damping="lm", initial_damping=1e-3, solver="cholesky")
    _, state = path(optimiser, linear, jnp.ones((3, 1)), loss_of(linear, "gaussian", Y), 1)
    assert float(state.gain) == pytest.approx(1.0, rel=1e-6)
    assert state.damping == 0.5e-3


def test_the_damping_rests_where_the_loss_falls_by_less_than_its_rounding():
    best = jnp.linalg.lstsq(X, Y)[0]
    optimiser = natural_gradient(1.0, likelihood="gaussian", damping="lm", initial_damping=1e-3, solver="cholesky")
    _, state = path(optimiser, linear, best, loss_of(linear, "gaussian", Y), 5)
    assert state.damping == 1e-3


def test_momentum_keeps_what_the_data_say_nothing_of():
    """SPRING: along null directions of F the last step is repeated, shrunk by μ."""
    flat = X.at[:, 2].set(0.0)
    optimiser = natural_gradient(1.0, likelihood="gaussian", damping=1e-3, momentum=0.9, solver="cholesky")
    params = jnp.zeros((3, 1))
    state = optimiser.init(params)._replace(direction=jnp.ones((3, 1)))
    grads = jax.grad(loss_of(linear, "gaussian", Y, flat))(params)
    _, after = optimiser.update(grads, state, params, model_fn=linear, inputs=flat)
    np.testing.assert_allclose(after.direction[2], 0.9, rtol=1e-9)


def test_the_trust_radius_bounds_the_step_in_the_fisher_metric():
    optimiser = natural_gradient(1.0, likelihood="bernoulli", damping=1e-6, trust_radius=0.05, solver="cholesky")
    params = jnp.zeros((3, 1))
    grads = jax.grad(loss_of(linear, "bernoulli", Y))(params)
    step, _ = optimiser.update(grads, optimiser.init(params), params, model_fn=linear, inputs=X)
    metric = X.T @ X / 4 / 40
    assert float(jnp.sqrt(step.T @ metric @ step)[0, 0]) == pytest.approx(0.05, rel=1e-9)


@pytest.mark.parametrize("solver", ["cg", "cholesky", "kernel"])
def test_a_curvature_that_is_not_finite_leaves_the_gradient(solver):
    optimiser = natural_gradient(0.1, likelihood="poisson", solver=solver)
    params = jnp.full((3, 1), 1e4)  # rates beyond the floating range
    grads = jnp.ones((3, 1))
    step, state = optimiser.update(grads, optimiser.init(params), params, model_fn=linear, inputs=X)
    assert np.all(np.isfinite(step))
    assert not state.finite
    np.testing.assert_allclose(step, -0.1 * grads / jnp.sqrt(3.0))


def test_it_trains_through_flax():
    model = nnx.Linear(3, 1, rngs=nnx.Rngs(0))
    optimiser = nnx.Optimizer(model, natural_gradient(1.0, likelihood="bernoulli"), wrt=nnx.Param)
    graph, _, rest = nnx.split(model, nnx.Param, ...)
    x, y = X.astype(jnp.float32), Y.astype(jnp.float32)
    run = lambda p, x: nnx.merge(graph, p, rest)(x)
    loss = lambda p: -jnp.mean(as_likelihood("bernoulli").log_probability(run(p, x), y))
    before = float(loss(nnx.state(model, nnx.Param)))
    slope, update = jax.jit(jax.grad(loss)), nnx.jit(lambda o, m, g: o.update(m, g, model_fn=run, inputs=x))
    for _ in range(6):
        update(optimiser, model, slope(nnx.state(model, nnx.Param)))
    gradient = slope(nnx.state(model, nnx.Param))
    assert float(loss(nnx.state(model, nnx.Param))) < before
    assert max(float(jnp.max(jnp.abs(g))) for g in jax.tree.leaves(gradient)) < 1e-4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"damping": -1.0}, "damping must be at least 0 and finite, got -1.0"),
        ({"damping": "lmm"}, "damping must be a number, a schedule or 'lm', got 'lmm'"),
        ({"solver": "kernel", "damping": 0.0}, "damping must be positive and finite"),
        ({"solver": "lu"}, "solver must be one of auto, cg, cholesky, kernel, got 'lu'"),
        ({"fisher": "true"}, "fisher must be one of exact, monte_carlo, empirical, got 'true'"),
        ({"momentum": 1.0}, "momentum must lie in \\[0, 1\\), got 1.0"),
        ({"trust_radius": 0.0}, "trust_radius must be positive or None, got 0.0"),
        ({"likelihood": "cauchy"}, "likelihood must be one of"),
        ({"initial_damping": 0.0}, "initial_damping must be positive and finite"),
    ],
)
def test_wrong_options_are_one_sentence(options, message):
    with pytest.raises(ValueError, match=message):
        natural_gradient(0.1, **({"likelihood": "gaussian"} | options))


def test_what_an_update_lacks_is_one_sentence():
    params = jnp.zeros((3, 1))
    optimiser = natural_gradient(0.1, likelihood="gaussian", damping="lm")
    state = optimiser.init(params)
    with pytest.raises(ValueError, match="params must be given to update"):
        optimiser.update(params, state, model_fn=linear)
    with pytest.raises(ValueError, match="model_fn must be given to update"):
        optimiser.update(params, state, params)
    with pytest.raises(ValueError, match="value and value_fn must be given to update for damping='lm'"):
        optimiser.update(params, state, params, model_fn=linear, inputs=X)


def test_a_part_of_the_parameters_is_refused():
    params = {"a": jnp.zeros((3, 1)), "b": jnp.zeros(2)}
    whole = natural_gradient(0.1, likelihood="gaussian")
    partial = optax.masked(whole, {"a": True, "b": False})
    with pytest.raises(ValueError, match="params must be whole for the natural gradient"):
        partial.init(params)


@pytest.mark.parametrize(("scale", "damping"), [(1.0, 0.0), (1.0, 1e-6), (255.0, 1e-3)])
def test_steps_of_few_examples_are_not_made_of_rounding(scale, damping):
    """With less damping than what single precision rounds the kernel by, conjugate gradients go on."""
    inputs = np.float32(scale * np.random.default_rng(0).random((16, 400)))
    targets, w = np.arange(16) % 10, jnp.zeros((400, 10), jnp.float32)
    loss = lambda w: -jnp.mean(jax.nn.log_softmax(inputs @ w)[jnp.arange(16), targets])
    optimiser = natural_gradient(1.0, likelihood="categorical", damping=damping)
    arguments = {"model_fn": lambda w, x: x @ w, "inputs": inputs, "targets": targets}
    step, state = optimiser.update(jax.grad(loss)(w), optimiser.init(w), w, **arguments)
    # At w = 0 the Fisher of every output is (I − 11ᵀ/10)/10, and the step lies within the rows of x.
    right = np.linalg.pinv(inputs.astype(np.float64)) @ (10.0 * np.eye(10)[targets] - 1.0)
    assert state.finite
    assert state.residual < 1e-3
    np.testing.assert_allclose(step, right, atol=2e-2 * np.abs(right).max())


def test_a_solution_that_leaves_more_than_no_step_is_none():
    inputs = np.float32(255.0 * np.random.default_rng(0).random((16, 400)))
    w = jnp.zeros((400, 10), jnp.float32)
    optimiser = natural_gradient(1.0, likelihood="categorical", damping=1e-5, solver="kernel")
    arguments = {"model_fn": lambda w, x: x @ w, "inputs": inputs, "targets": np.arange(16) % 10}
    step, state = optimiser.update(jnp.ones_like(w), optimiser.init(w), w, **arguments)
    assert not state.finite
    np.testing.assert_allclose(jnp.linalg.norm(step), 1.0, rtol=1e-5)

"""Gradients accumulated by optax.MultiSteps: one step of the whole batch, or refused."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx

from hopfield.optim import diagonal_fisher, kronecker_natural_gradient, natural_gradient, riemannian_gradient_descent

X = jax.random.normal(jax.random.key(0), (12, 3))
Y = (jax.random.uniform(jax.random.key(1), (12, 1)) < 0.5).astype(float)
PARTS = [(X[i : i + 4], Y[i : i + 4]) for i in (0, 4, 8)]
START = jnp.array([[0.2], [-0.1], [0.4]])
NATURAL = {
    "cholesky": natural_gradient(0.7, likelihood="bernoulli", damping=1e-3, solver="cholesky"),
    "levenberg_marquardt": natural_gradient(1.0, likelihood="bernoulli", damping="lm", solver="cholesky"),
    "momentum": natural_gradient(0.7, likelihood="bernoulli", momentum=0.5, solver="kernel"),
    "kronecker": kronecker_natural_gradient(0.7, likelihood="bernoulli", damping=1e-2),
    "diagonal": diagonal_fisher(0.7, likelihood="bernoulli", damping=1e-2),
}


def model(w, x):
    return x @ w


def loss(w, x, y):
    return jnp.mean(optax.sigmoid_binary_cross_entropy(model(w, x), y))


WHOLE = {"model_fn": model, "inputs": X, "value_fn": lambda w: loss(w, X, Y)}


def several(optimiser, **options):
    return optax.MultiSteps(optimiser, len(PARTS), accumulator_dtype=jnp.float64, **options)


def declared(accumulating):
    """optax.chain and nnx.Optimizer pass on what they are given only to transforms that are declared to take more."""
    return optax.GradientTransformationExtraArgs(accumulating.init, accumulating.update)


@pytest.mark.parametrize("name", NATURAL)
def test_with_all_examples_given_it_is_the_step_of_the_whole_batch(name):
    """Two steps of three mini-steps each, so that the state that is carried is tried as well."""
    optimiser, accumulating = NATURAL[name], several(NATURAL[name])
    gradient = jax.jit(jax.value_and_grad(loss))
    part = jax.jit(lambda g, s, w: accumulating.update(g, s, w, value=loss(w, X, Y), accumulated=True, **WHOLE))
    w, v = START, START
    one, other = optimiser.init(w), accumulating.init(v)
    for _ in range(2):
        value, grads = gradient(w, X, Y)
        step, one = optimiser.update(grads, one, w, value=value, **WHOLE)
        w = w + step
        for x, y in PARTS:
            step, other = part(gradient(v, x, y)[1], other, v)
            v = v + step
        np.testing.assert_allclose(v, w, rtol=1e-10)
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other.inner_opt_state), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-14)
    assert not np.allclose(v, START)


def test_the_last_part_alone_would_be_another_step():
    """What is refused is wrong by per cents: the claim above does not hold by accident."""
    optimiser, grads = NATURAL["cholesky"], jax.grad(loss)(START, X, Y)
    found = [
        optimiser.update(grads, optimiser.init(START), START, model_fn=model, inputs=x)[0] for x in (X, PARTS[-1][0])
    ]
    assert np.max(np.abs(found[1] / found[0] - 1)) > 0.05


@pytest.mark.parametrize("name", NATURAL)
@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "jit"])
def test_without_the_word_that_they_are_all_given_it_is_refused(name, compiled):
    optimiser = several(NATURAL[name])
    update = lambda g, s, w: optimiser.update(g, s, w, value=1.0, **WHOLE)
    with pytest.raises(ValueError, match=r"accumulated must be True inside optax\.MultiSteps, got False"):
        (jax.jit(update) if compiled else update)(START, optimiser.init(START), START)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda o: several(optax.chain(optax.clip_by_global_norm(1.0), o)),
        lambda o: optax.chain(optax.clip_by_global_norm(1.0), declared(several(o))),
        lambda o: several(o, should_skip_update_fn=optax.skip_not_finite),
    ],
    ids=["around a chain", "in a chain", "skipping"],
)
def test_it_is_found_through_other_wrappers(wrap):
    optimiser = wrap(NATURAL["diagonal"])
    with pytest.raises(ValueError, match="accumulated must be True"):
        optimiser.update(START, optimiser.init(START), START, **WHOLE)
    step, _ = optimiser.update(START, optimiser.init(START), START, accumulated=True, **WHOLE)
    np.testing.assert_array_equal(step, 0)  # the first mini-step of three


def test_flax_takes_it():
    net = nnx.Linear(3, 1, use_bias=False, param_dtype=float, rngs=nnx.Rngs(0))
    graph, start = nnx.split(net)
    start = jax.tree.map(jnp.copy, start)
    optimiser = nnx.Optimizer(net, declared(several(NATURAL["cholesky"])), wrt=nnx.Param)
    run = lambda p, x: nnx.merge(graph, p)(x)
    gradient = jax.jit(jax.grad(lambda p, x, y: jnp.mean(optax.sigmoid_binary_cross_entropy(run(p, x), y))))
    for x, y in PARTS:
        optimiser.update(net, gradient(start, x, y), model_fn=run, inputs=X, accumulated=True)
    whole = NATURAL["cholesky"]
    step, _ = whole.update(gradient(start, X, Y), whole.init(start), start, model_fn=run, inputs=X)
    expected = optax.apply_updates(start, step)
    np.testing.assert_allclose(nnx.state(net)["kernel"][...], expected["kernel"][...], rtol=1e-10)


def test_descent_on_manifolds_needs_no_more_than_the_mean_gradient():
    params = {
        "free": jnp.ones(2),
        "oblique": jnp.array([[0.6, 0.8], [1.0, 0.0]]),
        "stiefel": jnp.linalg.qr(jax.random.normal(jax.random.key(2), (3, 2)))[0],
        "positive_definite": jnp.diag(jnp.array([2.0, 0.5])),
    }
    names = {name: name for name in params} | {"free": "euclidean"}
    optimiser = riemannian_gradient_descent(0.2, names, momentum=0.5)
    accumulating = several(optimiser)

    def gradient(p, weights):  # of a mean over examples, by hand: Σ_n w_n sin(n θ)
        return jax.tree.map(lambda x: sum(w * n * jnp.cos(n * x) for n, w in enumerate(weights, 1)), p)

    whole = jax.jit(lambda p, s: optimiser.update(gradient(p, [1 / 3] * 3), s, p))
    part = jax.jit(lambda p, s, w: accumulating.update(gradient(p, w), s, p))
    p, q = params, params
    one, other = optimiser.init(p), accumulating.init(q)
    for _ in range(2):
        step, one = whole(p, one)
        p = optax.apply_updates(p, step)
        for weights in np.eye(3):
            step, other = part(q, other, weights)
            q = optax.apply_updates(q, step)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-14), q, p)
    for manifold, point in ((nm, q[nm]) for nm in ("oblique", "stiefel")):
        assert np.all(np.isfinite(point)), manifold

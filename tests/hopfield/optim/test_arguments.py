"""Arguments of optimisers: what none of them can move is refused, and no size of a step turns it into another one."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from hopfield import optim

RNG = np.random.default_rng(0)
X, Y, W = (RNG.normal(size=shape).astype(np.float32) for shape in ((12, 3), (12, 2), (3, 2)))
NATURAL = {
    "natural": optim.natural_gradient,
    "kronecker": optim.kronecker_natural_gradient,
    "diagonal": optim.diagonal_fisher,
}
MADE = {name: lambda make=make: make(1.0, likelihood="gaussian") for name, make in NATURAL.items()}
EVERY = MADE | {"riemannian": lambda: optim.riemannian_gradient_descent(0.1)}
every = pytest.mark.parametrize("make", EVERY.values(), ids=EVERY)


def model(params, x):
    return x @ params


def gradient(params):
    return jax.grad(lambda p: 0.5 * jnp.mean(jnp.sum((X @ p - Y) ** 2, axis=-1)))(params)


def update(optimiser, params=W, grads=None, **more):
    params = jnp.asarray(params)
    grads = gradient(params) if grads is None else grads
    given = {"model_fn": model, "inputs": X} | more
    return optimiser.update(grads, optimiser.init(params), params, **given)


@every
@pytest.mark.parametrize(
    "params", [jnp.ones(3, int), jnp.ones(3, complex), {"w": jnp.ones(3), "n": jnp.ones(2, int)}, jnp.ones((0, 2))],
    ids=["integer", "complex", "mixed", "empty"],
)  # fmt: skip
def test_parameters_that_cannot_be_moved_are_refused(make, params):
    with pytest.raises(ValueError, match=r"^params must be non-empty arrays of real numbers, got "):
        make().init(params)


@every
def test_no_parameters_at_all_are_refused(make):
    with pytest.raises(ValueError, match=r"^params must have at least one array, got {}"):
        make().init({})


@every
def test_updates_that_would_be_broadcast_are_refused(make):
    with pytest.raises(
        ValueError, match=r"^updates must have the structure and shapes of params, \(3, 2\), got \(1, 2"
    ):
        update(make(), grads=jnp.ones((1, 2)))


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_a_batch_of_none_and_outputs_that_are_whole_numbers_are_refused(make):
    with pytest.raises(ValueError, match=r"^outputs of model_fn must have axes .*, none empty, got shape \(0, 2\)"):
        update(make(), inputs=X[:0])
    with pytest.raises(ValueError, match=r"^outputs of model_fn must be real numbers, got int"):
        update(make(), model_fn=lambda p, x: (x @ p).astype(int))


@pytest.mark.parametrize("make", NATURAL.values(), ids=NATURAL)
def test_a_step_whose_square_vanishes_is_still_the_step(make):
    found, state = update(make(1.0, likelihood="gaussian", damping=1e30))
    np.testing.assert_allclose(found, -gradient(jnp.asarray(W)) / 1e30, rtol=1e-4)
    assert bool(state.finite)


@pytest.mark.parametrize("make", NATURAL.values(), ids=NATURAL)
def test_half_precision_keeps_its_type_and_comes_near(make):
    half = jnp.asarray(W, jnp.bfloat16)
    optimiser = make(1.0, likelihood="gaussian", damping=0.1)
    found, wide = update(optimiser, half, gradient(jnp.asarray(W)).astype(jnp.bfloat16))[0], update(optimiser)[0]
    assert found.dtype == jnp.bfloat16
    np.testing.assert_allclose(found.astype(jnp.float32), wide, atol=0.05)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: optim.natural_gradient(0.1, likelihood="gaussian", momentum="0.9"), "momentum must be a number in"),
        (lambda: optim.riemannian_gradient_descent(0.1, momentum=None), "momentum must be a number in"),
        (lambda: optim.diagonal_fisher(0.1, likelihood="gaussian", decay=None), "decay must be a number in"),
        (lambda: optim.natural_gradient(0.1, likelihood=["gaussian"]), "likelihood must be one of"),
        (lambda: optim.riemannian_gradient_descent(0.1, None), "manifolds must be euclidean, "),
        (
            lambda: optim.riemannian_gradient_descent(0.1, {"a": "oblique"}).init({"b": jnp.eye(2)}),
            "manifolds must be one, or a tree that is a prefix",
        ),
        (
            lambda: optim.riemannian_gradient_descent(0.1, "stiefel").init(jnp.array([1.0, 0.0])),
            "params on Stiefel must have at least 2 axes, got shape",
        ),
        (
            lambda: optim.riemannian_gradient_descent(0.1, "positive_definite").init(jnp.ones((2, 3))),
            "params must lie on their manifold PositiveDefinite at the start, got inf",
        ),
    ],
)
def test_what_is_of_the_wrong_kind_is_one_sentence(make, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}[^\n]*$"):
        make()


def test_masked_parameters_go_through_descent_on_manifolds():
    optimiser = optax.masked(optim.riemannian_gradient_descent(0.1, "oblique"), {"a": True, "b": False})
    params = {"a": jnp.eye(2), "b": jnp.ones(2)}
    found, _ = optimiser.update({"a": jnp.ones((2, 2)), "b": jnp.full(2, 3.0)}, optimiser.init(params), params)
    np.testing.assert_array_equal(found["b"], [3.0, 3.0])
    np.testing.assert_allclose(jnp.linalg.norm(params["a"] + found["a"], axis=1), 1.0, atol=1e-6)


@pytest.mark.parametrize("size", [1e-25, 1e25])
@pytest.mark.parametrize("solver", ["cg", "cholesky", "kernel"])
def test_the_direction_does_not_depend_on_the_size_of_the_gradient(solver, size):
    """At both sizes squares of single precision vanish or overflow."""
    params, grads = jnp.asarray(W, jnp.float32), gradient(jnp.asarray(W, jnp.float32)).astype(jnp.float32)
    optimiser = optim.natural_gradient(1.0, likelihood="gaussian", damping=0.1, solver=solver, tolerance=1e-6)
    usual, (found, state) = update(optimiser, params, grads)[0], update(optimiser, params, grads * size)
    np.testing.assert_allclose(np.asarray(found, float) / size, usual, rtol=1e-3, atol=1e-4)
    assert bool(state.finite)


def test_the_trust_radius_bounds_a_huge_step_and_does_not_stop_it():
    params, grads = jnp.asarray(W, jnp.float32), gradient(jnp.asarray(W, jnp.float32)).astype(jnp.float32)
    optimiser = optim.natural_gradient(1.0, likelihood="gaussian", damping=0.1, trust_radius=0.1)
    found = update(optimiser, params, 1e25 * grads)[0]
    length = np.sqrt(np.mean(np.sum((X @ np.asarray(found)) ** 2, axis=-1)))
    assert length == pytest.approx(0.1, rel=1e-3)

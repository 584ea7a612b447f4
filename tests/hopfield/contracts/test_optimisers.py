"""Promises of every optimiser of the library: one contract, tried on all of them."""

import functools
import inspect

import flax.serialization
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import hopfield.optim
from hopfield.optim import (
    NaturalOptimiser,
    kronecker_natural_gradient,
    natural_gradient,
    riemannian_gradient_descent,
)

X = jax.random.normal(jax.random.key(0), (30, 4))
LABELS = jnp.argmax(X @ jax.random.normal(jax.random.key(1), (4, 3)) + 0.5, axis=1)


def of_model(factory, **options):
    """A function of a rate alone that builds a natural gradient of the model."""
    return lambda rate: factory(model, "categorical", rate, **options)


VARIANTS = {
    "levenberg_marquardt": of_model(natural_gradient),
    "conjugate_gradients": of_model(natural_gradient, damping=1e-2, solver="cg"),
    "momentum": of_model(natural_gradient, damping=1e-2, momentum=0.5),
    "kronecker_reduction": of_model(kronecker_natural_gradient),
    "part_of_the_examples": of_model(natural_gradient, examples=20, solver="kernel"),
    "drawn_rows": of_model(kronecker_natural_gradient, fisher="monte_carlo", examples=20, damping=1e-2),
    "heavy_ball": lambda rate: riemannian_gradient_descent(rate, momentum=0.5),
}
NAMED = {name: getattr(hopfield.optim, name) for name in hopfield.optim.__all__ if name.islower()}
FACTORIES = {
    name: of_model(make, damping=1e-2) if "model" in inspect.signature(make).parameters else make
    for name, make in NAMED.items()
} | VARIANTS
JUDGING = {"levenberg_marquardt", "kronecker_reduction", "part_of_the_examples"}
"""Optimisers that try their steps."""
RATES = {"heavy_ball": 0.5}


def params(dtype=jnp.float64):
    return {"w": jnp.zeros((4, 3), dtype), "b": jnp.zeros(3, dtype)}


def model(p, x):
    return x @ p["w"] + p["b"][None]


def loss(p, x=X):
    return optax.softmax_cross_entropy_with_integer_labels(model(p, x), LABELS).mean()


def stepper(optimiser, x=X):
    """(params, state, factor of the gradient) ↦ (params, state)."""

    def natural(p, state, factor=1.0):
        return optimiser.step(p, state, factor * x, LABELS)

    def descent(p, state, factor=1.0):
        grads = jax.tree.map(lambda g: factor * g, jax.grad(lambda p: loss(p, x))(p))
        updates, state = optimiser.update(grads, state, p)
        return optax.apply_updates(p, updates), state

    return natural if isinstance(optimiser, NaturalOptimiser) else descent


def build(name, scale=1.0):
    return FACTORIES[name](scale * RATES.get(name, 1.0))


@functools.cache
def compiled(name):
    """The optimiser and its step, as most of the tests use it."""
    optimiser = build(name)
    step = jax.jit(stepper(optimiser))
    return optimiser, lambda p, state, factor=1.0: step(p, state, factor)


@pytest.mark.parametrize("name", FACTORIES)
def test_it_lowers_the_loss_under_jit_and_keeps_types_and_structure(name):
    optimiser, step = compiled(name)
    p, state = params(), optimiser.init(params())
    shapes = jax.tree.map(lambda x: (x.shape, x.dtype), state)
    for _ in range(30):
        p, state = step(p, state)
    assert float(loss(p)) < 0.35 * float(loss(params()))
    assert jax.tree.map(lambda x: (x.shape, x.dtype), state) == shapes
    assert jax.tree.map(lambda x: x.dtype, p) == jax.tree.map(lambda x: x.dtype, params())


@pytest.mark.parametrize("name", FACTORIES)
def test_single_precision_stays_single(name):
    x, p = X.astype(jnp.float32), params(jnp.float32)
    optimiser = build(name)
    after, state = jax.eval_shape(stepper(optimiser, x), p, optimiser.init(p))
    assert {leaf.dtype for leaf in jax.tree.leaves(after)} == {jnp.dtype(jnp.float32)}
    assert jnp.float64 not in {leaf.dtype for leaf in jax.tree.leaves(state)}


@pytest.mark.parametrize("name", FACTORIES)
def test_a_schedule_is_a_rate_at_every_step(name):
    """A constant schedule changes nothing, and one that falls to zero stops."""
    rate = RATES.get(name, 1.0)
    fixed, step = compiled(name)
    scheduled = FACTORIES[name](lambda count: jnp.where(count < 2, rate, 0.0))
    falling = jax.jit(stepper(scheduled))
    p, q = params(), params()
    one, other = fixed.init(p), scheduled.init(q)
    for _ in range(2):
        p, one = step(p, one)
        q, other = falling(q, other)
    jax.tree.map(np.testing.assert_allclose, p, q)
    after, _ = falling(q, other)
    jax.tree.map(np.testing.assert_array_equal, after, q)


def test_descent_chains_and_takes_injected_rates():
    make = riemannian_gradient_descent
    chained = optax.chain(optax.clip_by_global_norm(1e6), make(1.0), optax.scale(0.5))
    half, *others = make(0.5), optax.inject_hyperparams(make)(learning_rate=0.5), chained
    expected = stepper(half)(params(), half.init(params()))[0]
    for optimiser in others:
        found = stepper(optimiser)(params(), optimiser.init(params()))[0]
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9), found, expected)


@pytest.mark.parametrize("name", FACTORIES)
def test_a_state_written_down_and_read_back_goes_on_the_same(name):
    optimiser, step = compiled(name)
    p, state = params(), optimiser.init(params())
    for _ in range(3):
        p, state = step(p, state)
    saved = flax.serialization.msgpack_serialize(dict(enumerate(map(np.asarray, jax.tree.leaves((p, state))))))
    leaves = flax.serialization.msgpack_restore(saved)
    again = jax.tree.unflatten(
        jax.tree.structure((p, state)), [jnp.asarray(leaves[key]) for key in sorted(leaves, key=int)]
    )
    for a, b in zip(jax.tree.leaves(step(p, state)), jax.tree.leaves(step(*again)), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", FACTORIES)
def test_a_gradient_that_is_no_number_comes_out_as_none_or_is_rejected_and_forgotten(name):
    optimiser, step = compiled(name)
    start = params()
    p, state = step(start, optimiser.init(start), jnp.nan)
    assert not getattr(state, "finite", False)
    if name not in JUDGING:
        assert all(np.isnan(leaf).all() for leaf in jax.tree.leaves(p))
        return
    assert not state.accepted
    jax.tree.map(np.testing.assert_array_equal, p, start)
    p, state = step(start, state)
    assert state.accepted
    assert state.finite
    assert float(loss(p)) < float(loss(start))

"""What every optimiser of the library promises: one contract, tried on all of them."""

import functools
import inspect

import flax.serialization
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import hopfield.optim
from hopfield.optim import kronecker_natural_gradient, natural_gradient, riemannian_gradient_descent

X = jax.random.normal(jax.random.key(0), (30, 4))
LABELS = jnp.argmax(X @ jax.random.normal(jax.random.key(1), (4, 3)) + 0.5, axis=1)
OPTIONS = {"likelihood": "categorical", "damping": 1e-2}
"""What a plain optimiser gets of the options that it takes."""


def plain(factory):
    """A function of a rate alone that builds an optimiser with its own options, but for OPTIONS."""
    options = {name: value for name, value in OPTIONS.items() if name in inspect.signature(factory).parameters}
    return lambda rate: factory(rate, **options)


VARIANTS = {
    "levenberg_marquardt": lambda rate: natural_gradient(rate, likelihood="categorical", damping="lm"),
    "conjugate_gradients": lambda rate: natural_gradient(rate, likelihood="categorical", damping=1e-2, solver="cg"),
    "momentum": lambda rate: natural_gradient(rate, likelihood="categorical", damping=1e-2, momentum=0.5),
    "kronecker_reduction": lambda rate: kronecker_natural_gradient(rate, likelihood="categorical", damping="lm"),
    "heavy_ball": lambda rate: riemannian_gradient_descent(rate, momentum=0.5),
}
FACTORIES = {name: plain(getattr(hopfield.optim, name)) for name in hopfield.optim.__all__ if name.islower()} | VARIANTS
JUDGING = {"levenberg_marquardt", "kronecker_reduction"}
"""Those that try their steps."""
RATES = {"heavy_ball": 0.5}


def params(dtype=jnp.float64):
    return {"w": jnp.zeros((4, 3), dtype), "b": jnp.zeros(3, dtype)}


def model(p, x):
    return x @ p["w"] + p["b"][None]


def loss(p, x=X):
    return optax.softmax_cross_entropy_with_integer_labels(model(p, x), LABELS).mean()


def stepper(optimiser, x=X):
    def step(p, state, factor=1.0):
        value, grads = jax.value_and_grad(lambda p: loss(p, x))(p)
        grads = jax.tree.map(lambda g: factor * g, grads)
        extra = {"model_fn": model, "inputs": x, "value": value, "value_fn": lambda p: loss(p, x)}
        updates, state = optimiser.update(grads, state, p, **extra)
        return optax.apply_updates(p, updates), state

    return step


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


@pytest.mark.parametrize("name", FACTORIES)
def test_it_chains_and_takes_injected_rates(name):
    chained = optax.chain(optax.clip_by_global_norm(1e6), build(name), optax.scale(0.5))
    injected = optax.inject_hyperparams(FACTORIES[name])(rate=0.5 * RATES.get(name, 1.0))
    optimisers = [build(name, 0.5), injected, chained]
    if name in JUDGING:
        optimisers.pop()  # it has judged the whole step

    @jax.jit
    def steps(p, states):
        return [stepper(o)(p, state)[0] for o, state in zip(optimisers, states, strict=True)]

    half, *others = steps(params(), [o.init(params()) for o in optimisers])
    assert others
    for p in others:
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9), p, half)


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

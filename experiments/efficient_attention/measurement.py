"""Measurement of one way to compute attention: time, memory, and error against dense attention."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array

from experiments.bounds import name_and_number
from experiments.contract import Row
from experiments.efficient_attention.config import LAYERS, Config
from experiments.shared import footprint, timing
from experiments.shared.draws import seed_of
from experiments.statistics.clusters import standard_error
from hopfield import attention
from hopfield.layers import AssociationOptions, HopfieldAssociation


def head(separation: str, width: int, update_steps: int, block: int | None = None) -> Callable:
    """Function (query, key, value) → output of a layer's head, `block` queries at a time. None leaves it the choice."""
    options = AssociationOptions(separation=separation, update_steps=update_steps, block=block)
    association = HopfieldAssociation(1, width, options)
    return lambda *inputs: association(*(x[:, None, :] for x in inputs), deterministic=True)[:, 0, :]


def computation(method: str, width: int, length: int, number: int) -> Callable:
    """Function (query, key, value) → output of a method, all arrays [T, D]. `number` seeds random features."""
    name, given = name_and_number(method)
    size = int(given or 0)
    if name == "linear":
        features = attention.positive_random_features(jax.random.key(number), width, size)
        return lambda q, k, v: attention.linear_attention(q, k, v, features=features)
    if name == "elu":
        return lambda q, k, v: attention.linear_attention(q, k, v, features=attention.elu_plus_one())
    if name == "window":
        return lambda q, k, v: attention.attend_locally(q, k, v, left=size, right=size)
    if name == "low_rank":
        size = min(size, length)  # of more stretches some would hold no key
        stretch = jnp.arange(length) * size // length
        means = jnp.where(stretch[None, :] == jnp.arange(size)[:, None], 1.0, 0.0)
        means = means / jnp.maximum(jnp.sum(means, axis=1, keepdims=True), 1.0)
        return lambda q, k, v: attention.attend_low_rank(q, k, v, means)
    return {"dense": attention.attend, "blockwise": attention.attend_blockwise}[name]


def _draw_inputs(config: Config, length: int, sample: int) -> tuple[Array, Array, Array]:
    keys = jax.random.split(jax.random.fold_in(jax.random.fold_in(jax.random.key(config.seed), length), sample), 3)
    query, key, value = (jax.random.normal(k, (length, config.width)) for k in keys)
    return config.spread * query, config.spread * key, value


def _exact(config: Config, method: str, length: int) -> Callable:
    """Exact output of the method, with all scores at once and nothing left out."""
    if name_and_number(method)[0] in LAYERS:
        return head(method, config.width, config.update_steps, length)
    return computation("dense", config.width, length, 0)


def _function(config: Config, method: str, length: int, number: int) -> Callable:
    if name_and_number(method)[0] in LAYERS:
        return head(method, config.width, config.update_steps)
    return computation(method, config.width, length, number)


def measure_point(config: Config, method: str, length: int, direction: str) -> Row:
    """Seconds, megabytes and relative error of a method at one length, in one direction."""
    function = _function(config, method, length, config.seed)

    def forward_and_backward(query: Array, key: Array, value: Array) -> tuple[Array, Array, Array]:
        output, pull = jax.vjp(function, query, key, value)
        return pull(output)

    inputs = _draw_inputs(config, length, 0)
    compiled = jax.jit(forward_and_backward if direction == "backward" else function).lower(*inputs).compile()
    seconds = timing.in_turn([lambda: compiled(*inputs)], config.repeats)
    columns = {"seconds": float(seconds.min()), "megabytes": footprint.temporary_bytes(compiled, *inputs) / 1e6}
    errors = []
    if direction == "forward" and length <= config.largest_dense:
        for sample in range(config.samples):
            query, key, value = _draw_inputs(config, length, sample)
            exact = jax.jit(_exact(config, method, length))(query, key, value)
            output = jax.jit(_function(config, method, length, seed_of(config.seed, sample)))(query, key, value)
            errors.append(float(jnp.linalg.norm(output - exact) / jnp.linalg.norm(exact)))
    mean = sum(errors) / len(errors) if errors else float("nan")
    return columns | {"error": mean, "error_stderr": standard_error(errors)}

"""The contract of every layer, found by folder: a new one is held to it without an edit of this file.

One program per layer takes parameters, inputs and a mask, and gives the result with the gradient of all parameters.
"""

import functools
import inspect
from typing import Any, NamedTuple

import flax.serialization
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

import hopfield.layers
from hopfield.layers import HopfieldAttention

BATCH, TOKENS, FEATURES, HEADS, QUANTITY = 2, 5, 8, 2, 3
RNG = np.random.default_rng(6)
SEQUENCES = RNG.normal(size=(2, BATCH, TOKENS, FEATURES)).astype(np.float32)
WORDS: dict[str, Any] = {
    "num_heads": HEADS,
    "heads": HEADS,
    "in_features": FEATURES,
    "features": FEATURES,
    "head_features": FEATURES // HEADS,
    "num_patterns": 3,
    "metric": np.diag(np.arange(1.0, 1 + FEATURES)).astype(np.float32),
}
"""Arguments of layers, one word for one thing in all of them."""


def layers() -> dict[str, type[nnx.Module]]:
    """Every concrete module that the package exports."""
    values = {name: getattr(hopfield.layers, name) for name in sorted(hopfield.layers.__all__)}
    classes = {
        name: value for name, value in values.items() if inspect.isclass(value) and not inspect.isabstract(value)
    }
    return {name: value for name, value in classes.items() if issubclass(value, nnx.Module)}


def needed(function: Any) -> list[str]:
    """Names of the arguments without a default, but for `self` and `rngs`."""
    parameters = inspect.signature(function).parameters.values()
    given = [p for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    return [p.name for p in given if p.name not in ("self", "rngs")]


def layer_of(cls: type[nnx.Module], seed: int = 0) -> Any:
    """A layer from the words of its constructor; a layer in a layer is attention."""
    parameters = inspect.signature(cls.__init__).parameters
    options = {}
    for name in needed(cls.__init__):
        inner = "Attention" in str(parameters[name].annotation)
        options[name] = HopfieldAttention(HEADS, FEATURES, rngs=nnx.Rngs(seed + 1)) if inner else WORDS[name]
    options |= {"quantity": QUANTITY} if "quantity" in parameters else {}
    return cls(**options, **({"rngs": nnx.Rngs(seed)} if "rngs" in parameters else {}))


LAYERS = {name: cls for name, cls in layers().items() if "self" in inspect.signature(cls.__call__).parameters}
UNMASKED = {"RecurrentMemory"}
"""Layers whose state holds all tokens before each; a mask could leave out none."""
READING = {name: cls for name, cls in LAYERS.items() if needed(cls.__call__) and name not in UNMASKED}
"""Layers that read something; the others are parameters, as metrics are."""
every_layer = pytest.mark.parametrize("name", READING)


class Built(NamedTuple):
    """A layer, taken apart, with inputs and the shape of its mask."""

    graph: Any
    params: Any
    rest: Any
    inputs: tuple[np.ndarray, ...]
    mask: tuple[int, ...]
    masked: int
    """How many of the inputs it masks: of the others there is a mask of its own."""

    def merged(self, params: Any) -> Any:
        """The layer with these parameters."""
        return nnx.merge(self.graph, params, self.rest)


@functools.cache
def layer(name: str) -> Built:
    module = layer_of(READING[name])
    call = inspect.signature(READING[name].__call__).parameters
    names = needed(READING[name].__call__)
    heads = " H D" in str(call[names[0]].annotation)
    shape = (BATCH, TOKENS, HEADS, FEATURES // HEADS) if heads else (BATCH, TOKENS, FEATURES)
    inputs = tuple(SEQUENCES[i % 2].reshape(shape) for i in range(len(names)))
    # Of what is looked up in learned patterns there are as many as were learned: one mask for all of them.
    pooled = "quantity" in inspect.signature(READING[name].__init__).parameters
    # A token is masked as key and as query, since queries of an energy move the keys.
    mask = (BATCH, 1, 1 if pooled else TOKENS, QUANTITY if pooled and names[0] == "query" else TOKENS)
    return Built(*nnx.split(module, nnx.Param, ...), inputs, mask, 1 if "cross_mask" in call else len(inputs))


@functools.cache
def program(name: str):
    """(parameters, inputs, mask) ↦ result and the gradient of a sum over it."""
    built = layer(name)

    def loss(params, inputs, mask):
        found = built.merged(params)(*inputs, mask=mask)
        return jnp.sum(jnp.sin(jnp.arange(found.size, dtype=found.dtype).reshape(found.shape)) * found), found

    def run(params, inputs, mask):
        (_, found), slope = jax.value_and_grad(loss, has_aux=True)(params, inputs, mask)
        return found, slope

    return jax.jit(run)


def result(name: str, *inputs: np.ndarray, mask: np.ndarray | None = None, params: Any = None) -> tuple:
    """Result of the program with these for `layer`'s own."""
    built = layer(name)
    allowed = np.ones(built.mask, bool) if mask is None else mask
    found, slope = program(name)(built.params if params is None else params, inputs or built.inputs, allowed)
    return np.asarray(found), jax.tree.map(np.asarray, slope)


def replaced(built: Built, place: tuple, value: float) -> list[np.ndarray]:
    """Inputs with another number at one place of each."""
    found = [np.array(each) for each in built.inputs]
    for each in found[: built.masked]:
        each[place] = value
    return found


def test_every_layer_is_tried():
    exported = {name for name in hopfield.layers.__all__ if name in LAYERS}
    assert {name for name in exported if needed(LAYERS[name].__call__)} <= READING.keys() | UNMASKED
    assert len(READING) > 5


@every_layer
def test_a_result_is_finite_single_precision_and_depends_on_every_parameter(name):
    found, slope = result(name)
    assert found.dtype == np.float32
    assert found.shape[0] == BATCH
    assert np.isfinite(found).all()
    leaves = jax.tree.leaves(slope)
    assert all(np.isfinite(leaf).all() for leaf in leaves)
    # A bias of keys moves all scores of a query alike, which softmax does not see.
    assert sum(not np.any(leaf) for leaf in leaves) <= len(leaves) // 4


@every_layer
def test_a_sequence_does_not_know_its_batch_and_a_nan_stays_in_its_own(name):
    found, _ = result(name)
    spoilt, _ = result(name, *replaced(layer(name), (0, 1), np.nan))
    np.testing.assert_array_equal(spoilt[1], found[1])
    assert np.isnan(spoilt[0]).any()


@every_layer
def test_a_masked_token_might_as_well_be_anything(name):
    built = layer(name)
    mask = np.ones(built.mask, bool)
    if mask.shape[-1] != TOKENS:
        mask[:] = False
        assert np.isfinite(result(name, mask=mask)[0]).all()
        return
    if mask.shape[-2] == TOKENS:
        mask[..., -1, :] = False
    mask[..., -1] = False
    (clean, slope), (dirty, moved) = result(name, mask=mask), result(name, *replaced(built, (0, -1), 1e4), mask=mask)
    others = slice(0, TOKENS - 1) if clean.ndim > 2 else slice(None)
    np.testing.assert_array_equal(dirty[:, others], clean[:, others])
    assert not np.array_equal(clean, result(name)[0])
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves((slope, moved)))


@every_layer
def test_vmap_over_sequences_and_whole_batches_agree(name):
    built = layer(name)
    run = jax.jit(jax.vmap(lambda mask, *inputs: built.merged(built.params)(*inputs, mask=mask)))
    np.testing.assert_allclose(run(np.ones(built.mask, bool), *built.inputs), result(name)[0], rtol=2e-5, atol=2e-6)


@every_layer
def test_a_layer_taken_apart_written_down_and_put_together_is_the_same(name):
    built = layer(name)
    saved = flax.serialization.msgpack_serialize(nnx.to_pure_dict(built.params))
    other = nnx.split(layer_of(READING[name], seed=5), nnx.Param, ...)[1]
    nnx.replace_by_pure_dict(other, flax.serialization.msgpack_restore(saved))
    np.testing.assert_array_equal(result(name, params=other)[0], result(name)[0])


@every_layer
def test_half_precision_stays_half_and_is_near(name):
    built = layer(name)
    half = jax.tree.map(lambda x: x.astype(jnp.bfloat16), (built.params, built.inputs))
    mask = np.ones(built.mask, bool)
    found = jax.jit(lambda params, inputs: built.merged(params)(*inputs, mask=mask))(*half)
    assert found.dtype == jnp.bfloat16
    np.testing.assert_allclose(np.asarray(found, np.float32), result(name)[0], atol=0.15)

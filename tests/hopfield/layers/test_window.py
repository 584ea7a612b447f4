"""A window of keys in layers: what it reads, and decoding that keeps no more than it."""

import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from hopfield import attention
from tests.hopfield.layers.building import layer

RNG = np.random.default_rng(0)
X = jnp.asarray(RNG.normal(size=(2, 11, 16)), jnp.float32)
RUN = nnx.jit(lambda module, x, mask=None: module(x, mask=mask))
WHOLE = nnx.jit(lambda module, x, mask=None: module(x, mask=mask, decode=False))
OPTIONS = {
    "plain": {},
    "rotary": {"positions": "rotary"},
    "alibi": {"positions": "alibi"},
    "sinusoidal": {"positions": "sinusoidal"},
    "many": {"positions": "relative", "num_kv_heads": 2, "update_steps": 3, "metric": "definite", "memory_slots": 1},
    "sparse": {"separation": "sparsemax", "block": 3},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_a_window_is_a_causal_mask(name):
    windowed, free = (layer(4, 16, window=window, **OPTIONS[name]) for window in (3, None))
    expected = RUN(free, X, mask=attention.sliding_window(2, 0))
    np.testing.assert_allclose(RUN(windowed, X), expected, atol=2e-6)
    weights = free.inspect(X, mask=attention.sliding_window(2, 0)).weights
    np.testing.assert_allclose(windowed.inspect(X).weights, weights, atol=2e-6)


def test_a_window_is_skipped_over_in_long_sequences():
    windowed, free = (layer(4, 16, window=window, block=4) for window in (3, None))
    np.testing.assert_allclose(RUN(windowed, X), RUN(free, X, mask=attention.sliding_window(2, 0)), atol=2e-6)


@pytest.mark.parametrize("name", OPTIONS)
def test_decoding_with_a_window_keeps_no_more_than_it(name):
    module = layer(4, 16, decode=True, window=3, **OPTIONS[name])
    module.init_cache((2, 10**6, 16))  # places of the window alone are kept
    assert module.cached_key is not None
    assert module.cached_key[...].shape[1] == 3
    tokens = [RUN(module, X[:, i : i + 1]) for i in range(11)]
    np.testing.assert_allclose(jnp.concatenate(tokens, 1), WHOLE(module, X), atol=2e-6)


@pytest.mark.parametrize("options", [{}, {"positions": "rotary", "num_kv_heads": 2, "memory_slots": 1}, {"block": 3}])
def test_the_first_keys_stay_beside_a_window(options):
    module = layer(4, 16, decode=True, window=3, window_first=2, **options)
    free, near = layer(4, 16, **options), attention.global_local(2, 2, 0) & attention.causal()
    expected = RUN(free, X, mask=near)
    np.testing.assert_allclose(WHOLE(module, X), expected, atol=2e-6)
    module.init_cache((2, 10**6, 16))
    parts = [RUN(module, X[:, :4]), *(RUN(module, X[:, i : i + 1]) for i in range(4, 11))]
    np.testing.assert_allclose(jnp.concatenate(parts, axis=1), expected, atol=2e-6)
    assert module.cached_key[...].shape[-3] == 5


PLACED = [{"positions": name} for name in ("rotary", "alibi", "t5", "relative")]
PLACED += [{"positions": "relative", "window_first": 2, "update_steps": 2}, {"window_first": 2}]


@pytest.mark.parametrize("options", PLACED, ids=str)
def test_sequences_of_a_window_go_on_each_from_its_own_place(options):
    """Prompts of 3 and 5 tokens, padded on the left, then token by token: each as its sequence alone."""
    module = layer(4, 16, decode=True, window=3, **options)
    if (table := getattr(module.attention_fn.positions, "table", None)) is not None:
        table[...] = jnp.asarray(RNG.normal(size=table.shape), jnp.float32)
    run = nnx.jit(lambda module, x, places=None: module(x, positions=places))
    module.init_cache(X.shape)
    prompt = jnp.stack([jnp.pad(X[0, :3], ((2, 0), (0, 0)), constant_values=9.0), X[1, :5]])
    parts = [run(module, prompt, jnp.array([[-1, -1, 0, 1, 2], [0, 1, 2, 3, 4]]))]
    for step in range(6):
        parts.append(run(module, jnp.stack([X[0, 3 + step], X[1, 5 + step]])[:, None]))
    found = jnp.concatenate(parts, axis=1)
    assert module.cache_index[...].tolist() == [9, 11]
    for sequence, read in zip(X, (found[0, 2:], found[1]), strict=True):
        np.testing.assert_allclose(read, WHOLE(module, sequence[None, : len(read)])[0], atol=2e-6)
    with pytest.raises(ValueError, match="positions must be the next ones of each sequence where a window is decoded"):
        module(X[:, :1], positions=jnp.array([[9], [12]]))

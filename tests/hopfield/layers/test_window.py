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

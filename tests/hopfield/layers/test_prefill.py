"""Many tokens into the cache at once, sequences that go on from places of their own, and positions that restart."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from hopfield.attention import segments
from hopfield.layers import AssociationOptions, HopfieldAttention

X = jax.random.normal(jax.random.key(0), (2, 5, 8), jnp.float32)
OPTIONS = {
    "plain": {},
    "grouped": {"num_kv_heads": 1},
    "rotary": {"positions": "rotary"},
    "sinusoidal, sparse": {"positions": "sinusoidal", "separation": "entmax:1.5"},
    "alibi in blocks": {"positions": "alibi", "block": 2},
    "steps": {"positions": "rotary", "update_steps": 2},
}
WINDOWS = {"window": {"window": 3, "positions": "rotary"}, "narrow": {"window": 1}}


def layer(num_kv_heads=None, **options):
    options = AssociationOptions(**options)
    return HopfieldAttention(2, 8, num_kv_heads=num_kv_heads, options=options, decode=True, rngs=nnx.Rngs(0))


@pytest.mark.parametrize("options", (OPTIONS | WINDOWS).values(), ids=OPTIONS | WINDOWS)
def test_tokens_given_together_read_what_they_read_one_by_one(options):
    module = layer(**options)
    module.init_cache(X.shape)
    parts = [module(X[:, :1]), module(X[:, 1:4]), module(X[:, 4:])]
    expected = module(X, decode=False, is_causal=True)
    np.testing.assert_allclose(jnp.concatenate(parts, 1), expected, atol=2e-6)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("side", ["left", "right"])
def test_padded_sequences_read_what_each_reads_alone(options, side):
    """Prompts of two and four tokens, padding of NaN beside them, then a further token for each."""
    module, lengths = layer(**options), (2, 4)
    prompts, places = [], []
    for sequence, length in enumerate(lengths):
        rows, pads = X[sequence, :length], jnp.full((4 - length, 8), jnp.nan)
        none = -jnp.ones(4 - length, int)
        order = -1 if side == "left" else 1
        prompts.append(jnp.concatenate([rows, pads][::order]))
        places.append(jnp.concatenate([jnp.arange(length), none][::order]))
    places = jnp.stack(places)
    module.init_cache((2, 7, 8))
    run = nnx.jit(lambda module, x, **given: module(x, **given))
    prompt = jnp.where(places[..., None] < 0, 0.0, jnp.stack(prompts))
    first, last = run(module, prompt, positions=places), run(module, X[:, 4:])
    np.testing.assert_array_equal(module.cache_index[...], [3, 5])
    for sequence, length in enumerate(lengths):
        alone = jnp.concatenate([X[sequence, :length], X[sequence, 4:]])[None]
        expected = module(alone, decode=False, is_causal=True)[0]
        np.testing.assert_allclose(first[sequence][places[sequence] >= 0], expected[:-1], atol=2e-6)
        np.testing.assert_allclose(last[sequence, 0], expected[-1], atol=2e-6)


@pytest.mark.parametrize("options", [{}, {"separation": "entmax:1.5"}, {"update_steps": 2}, {"window": 3}])
def test_keys_are_turned_once_before_they_are_kept(options):
    module = layer(positions="rotary", **options)
    module.init_cache(X.shape)
    tokens = [module(X[:, i : i + 1]) for i in range(5)]
    np.testing.assert_allclose(jnp.concatenate(tokens, 1), module(X, decode=False, is_causal=True), atol=2e-6)
    length = module.cached_key.shape[-3]
    turned = module.attention_fn.positions().rotate(jnp.swapaxes(module.key(X), -3, -2), jnp.arange(5))
    np.testing.assert_allclose(module.cached_key[...], jnp.swapaxes(turned, -3, -2)[:, 5 - length :], atol=1e-6)


@pytest.mark.parametrize("name", ["alibi", "t5", "relative"])
@pytest.mark.parametrize("options", [{}, {"block": 2, "update_steps": 2}], ids=str)
def test_distances_restart_where_positions_do(name, options):
    """Documents of [2, 3] and of [3, 2] tokens, packed without a mask: a token reads keys by the positions given."""
    module = layer(positions=name, **options)
    if (table := getattr(module.attention_fn.positions, "table", None)) is not None:
        table[...] = jnp.asarray(np.random.default_rng(1).normal(size=table.shape), table[...].dtype)
    restarted = jnp.array([[0, 1, 0, 1, 2], [0, 1, 2, 0, 1]])
    moved, ids = restarted + jnp.array([[7], [0]]), jnp.array([[0, 0, 1, 1, 1], [0, 0, 0, 1, 1]])
    packed = module(X, positions=restarted, mask=segments(ids), is_causal=True, decode=False)
    for sequence, first in ((0, 2), (1, 3)):
        for part in (slice(0, first), slice(first, 5)):
            alone = module(X[sequence : sequence + 1, part], is_causal=True, decode=False)
            np.testing.assert_allclose(packed[sequence, part], alone[0], atol=2e-6)
    free, shifted = (module(X, positions=places, decode=False) for places in (restarted, moved))
    np.testing.assert_allclose(free, shifted, atol=2e-6)
    assert float(jnp.abs(free - module(X, decode=False)).max()) > 1e-4

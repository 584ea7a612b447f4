"""Positions in layers: what each encoding means for the scores, in decoding, in steps, with metrics and in blocks."""

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from hopfield import attention, layers
from hopfield.attention.encodings import Encoding, Rotary
from hopfield.layers import (
    AbsolutePositions,
    RelativePositions,
    T5Positions,
)
from tests.hopfield.layers.building import layer

RNG = np.random.default_rng(0)
X = jnp.asarray(RNG.normal(size=(2, 6, 16)), jnp.float32)
RUN = nnx.jit(lambda module, *inputs, **options: module(*inputs, **options))


MANY = {"num_kv_heads": 2, "update_steps": 3, "metric": "definite"}


def filled(positions):
    """Positions whose learned numbers are not those they start with."""
    if hasattr(positions, "table"):
        positions.table[...] = jnp.asarray(RNG.normal(size=positions.table.shape), jnp.float32)
    return positions


POSITIONS = {
    "rotary": lambda: "rotary",
    "partial rotary": lambda: Rotary(2, base=50.0, pairing="interleaved", scaling="linear", factor=2.0),
    "alibi": lambda: "alibi",
    "t5": lambda: filled(T5Positions(4, buckets=8, max_distance=6)),
    "relative": lambda: filled(RelativePositions(4, 4, reach=3)),
    "sinusoidal": lambda: "sinusoidal",
    "absolute": lambda: filled(AbsolutePositions(6, 16, rngs=nnx.Rngs(0))),
}


OFTEN = ("rotary", "relative")
"""Positions that `make test` tries with many options, too: one that turns keys, one whose bias comes from the query."""


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *(pytest.param(name, {}, id=name) for name in POSITIONS),
        *(
            pytest.param(name, MANY, marks=[pytest.mark.exhaustive] * (name not in OFTEN), id=f"many-{name}")
            for name in POSITIONS
        ),
    ],
)
def test_decoding_with_positions_is_causal_attention(name, options):
    module = layer(4, 16, decode=True, positions=POSITIONS[name](), **options)
    module.init_cache(X.shape)
    tokens = [RUN(module, X[:, i : i + 1]) for i in range(6)]
    np.testing.assert_allclose(jnp.concatenate(tokens, 1), module(X, decode=False, is_causal=True), atol=2e-6)


def by_hand(module, positions) -> np.ndarray:
    """Weights of one step from queries, keys and the functions of `hopfield.attention`."""
    x = X
    if positions == "sinusoidal":
        x = x + attention.sinusoidal(6, 16)[None].astype(x.dtype)
    query, key = (jnp.swapaxes(f(x), 1, 2).astype(jnp.float64) for f in (module.query, module.key))
    if positions == "rotary":
        query, key = (attention.rotary(rows, pairing="half") for rows in (query, key))
    scores = query @ jnp.swapaxes(key, -1, -2) / 2.0
    learned = getattr(module.attention_fn.positions, "table", None)
    if positions == "alibi":
        scores += attention.alibi_bias(attention.alibi_slopes(4), 6, 6)[None]
    if positions == "t5":
        scores += attention.t5_bias(learned[...], 6, 6)[None]
    if positions == "relative":
        scores += attention.relative_bias(query, learned[...].astype(jnp.float64), 6)
    return np.asarray(jax.nn.softmax(scores))


@pytest.mark.parametrize("name", layers.POSITIONS)
def test_positions_by_name_are_those_of_the_papers(name):
    module = layer(4, 16, positions=name)
    filled(module.attention_fn.positions)
    np.testing.assert_allclose(module.inspect(X).weights, by_hand(module, name), atol=1e-6)


@pytest.mark.parametrize(
    ("name", "metric"), [("rotary", "definite"), ("alibi", None), ("t5", "definite"), ("relative", None)]
)
def test_the_energy_never_rises_with_positions(name, metric):
    """Keys are turned and biases added before the first step, so that the theorem holds of other keys."""
    module = layer(4, 16, positions=POSITIONS[name](), metric=metric, beta=1.0)
    energies = []
    for module.attention_fn.update_steps in (1, 2, 3, 6, 40):
        energies.append(module.energy(X))
    for before, after in pairwise(energies):
        assert np.all(np.asarray(after) <= np.asarray(before) + 1e-5 * np.abs(before))
    assert np.mean(energies[1]) < np.mean(energies[0]) - 1e-3


class Nearest(Encoding):
    """A user's own: only the distance 1 counts."""

    def score_bias(self, query, beta, places, keys):
        return jnp.where(places[:, None] - jnp.arange(keys)[None, :] == 1, 50.0, 0.0)[None]


def test_a_users_own_encoding():
    weights = layer(4, 16, positions=Nearest()).inspect(X).weights
    np.testing.assert_allclose(np.diagonal(weights, -1, 2, 3), 1.0, atol=1e-6)


@pytest.mark.parametrize("name", ["t5", "relative", "absolute"])
def test_what_the_literature_learns_is_learned(name):
    module = layer(4, 16, positions=POSITIONS[name]())
    slopes = nnx.jit(nnx.grad(lambda m: jnp.sum(m(X) ** 2)))(module)
    assert float(jnp.abs(slopes["attention_fn"]["positions"]["table"][...]).max()) > 1e-4
    for fixed in ("rotary", "alibi", "sinusoidal"):
        assert "positions" not in nnx.state(layer(4, 16, positions=fixed), nnx.Param).get("attention_fn", {})

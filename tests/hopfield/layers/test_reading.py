"""Reading in blocks is reading at once: values and gradients, option by option, in the memory of a block."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from jax import export

from hopfield.attention import masks
from hopfield.layers import AssociationOptions, HopfieldAttention, T5Positions, _reading
from tests.hopfield.layers.building import layer

RNG = np.random.default_rng(0)
X = jnp.asarray(RNG.normal(size=(2, 7, 8)))
ARRAY = jnp.asarray(RNG.random((2, 1, 7, 7)) < 0.7)
BIAS = jnp.asarray(RNG.normal(size=(2, 2, 7, 7)))
LENGTHS = jnp.asarray([3, 7])

CASES = {
    "softmax": {},
    "softmax1": {"separation": "softmax1"},
    "entmax": {"separation": "entmax:1.5"},
    "sparsemax": {"separation": "sparsemax"},
    "top_k": {"separation": "top_k:3"},
    "normmax": {"separation": "normmax:2"},
    "linear": {"separation": "linear"},
    "steps": {"update_steps": 3, "rtol": 0.0},
    "steps, entmax, metric, β": {
        "update_steps": 3,
        "rtol": 0.0,
        "separation": "entmax:1.3",
        "metric": "full",
        "learn_beta": True,
    },
    "implicit": {"update_steps": 40, "gradient": "implicit", "beta": 0.2},
    "slots": {"memory_slots": 2, "separation": "sparsemax"},
    "causal": {"is_causal": True},
    "causal, sparsemax": {"is_causal": True, "separation": "sparsemax"},
    "mask": {"mask": masks.causal() & masks.padding(LENGTHS), "separation": "entmax:1.5"},
    "mask, softmax": {"mask": masks.sliding_window(2) & masks.padding(LENGTHS)},
    "array": {"mask": ARRAY, "is_causal": True},
    "array of keys": {"mask": ARRAY[:, :, :1], "separation": "sparsemax"},
    "bias": {"bias": BIAS, "separation": "entmax:1.5"},
    "bias of keys": {"bias": BIAS[:1, :, :1]},
    "rotary": {"positions": "rotary", "update_steps": 2},
    "alibi": {"positions": "alibi"},
    "relative": {"positions": "relative", "separation": "sparsemax"},
    "t5, bias, slots": {
        "positions": T5Positions(2, buckets=8, param_dtype=jnp.float64),
        "bias": BIAS,
        "memory_slots": 1,
    },
    "grouped": {"num_kv_heads": 1, "separation": "sparsemax"},
    "dropout": {"dropout_rate": 0.4, "deterministic": False},
    "dropout by weight": {"dropout_rate": 0.4, "deterministic": False, "broadcast_dropout": False, "is_causal": True},
}
CALL = ("mask", "bias", "is_causal", "deterministic")


def both(block, case):
    """Read-out and its gradients in the parameters, the inputs and the bias."""
    options = CASES[case] | {"block": block, "param_dtype": jnp.float64}
    call = {name: options.pop(name) for name in CALL if name in options}
    module, bias = layer(2, 8, **options), call.pop("bias", jnp.zeros((1, 1, 1, 1)))

    @nnx.jit
    def run(module, x, bias):
        def loss(module, x, bias):
            found = module(x, bias=bias, **call) if "bias" in CASES[case] else module(x, **call)
            return jnp.sum(jnp.sin(found)), found

        return nnx.grad(loss, argnums=(0, 1, 2), has_aux=True)(module, x, bias)

    return run(module, X, bias)


FURTHER = {"softmax1", "sparsemax", "normmax", "steps", "causal", "mask, softmax", "array of keys", "bias of keys"}
FURTHER |= {"alibi", "dropout by weight"}
"""Cases whose parts and kinds of pairs the others have, too."""


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=[pytest.mark.exhaustive] * (case in FURTHER)) for case in CASES]
)
def test_blocks_and_all_at_once_agree_in_value_and_gradient(case):
    for found, expected in zip(*(jax.tree.leaves(both(block, case)) for block in (3, 7)), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


OFTEN = {"steps, entmax, metric, β", "t5, bias, slots", "mask, softmax"}


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=[pytest.mark.exhaustive] * (case not in OFTEN)) for case in CASES]
)
def test_sequence_by_sequence_and_all_at_once_agree_in_value_and_gradient(case, monkeypatch):
    expected = both(7, case)
    monkeypatch.setattr(_reading, "CACHED", 1)
    for found, at_once in zip(jax.tree.leaves(both(7, case)), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(found, at_once, rtol=0, atol=1e-12)


EXPORTED = {
    "plain": {},
    "sparse": {"separation": "entmax:1.5"},
    "rotary, steps": {"positions": "rotary", "update_steps": 3, "metric": "diagonal"},
    "distances, slots": {"positions": "t5", "memory_slots": 1, "block": 4},
    "relative, window": {"positions": "relative", "window": 3, "separation": "top_k:2"},
}


@pytest.mark.parametrize("name", EXPORTED)
def test_a_layer_is_exported_for_any_batch_and_length(name):
    module = HopfieldAttention(2, 8, options=AssociationOptions(**EXPORTED[name]), rngs=nnx.Rngs(0))
    graph, state = nnx.split(module)
    shape = export.symbolic_shape("b, t, 8", constraints=["t >= 2"])  # as "top_k:2" chooses two keys
    program = jax.jit(lambda state, x: nnx.merge(graph, state)(x, is_causal=True))
    exported = export.export(program)(state, jax.ShapeDtypeStruct(shape, jnp.float32))
    x = jax.random.normal(jax.random.key(0), (3, 6, 8), jnp.float32)
    np.testing.assert_allclose(exported.call(state, x), module(x, is_causal=True), atol=2e-6)

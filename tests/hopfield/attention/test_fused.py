"""cuDNN's attention: what goes to it, and that it is one function with the blocks, in every derivative."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.attention import attend_blockwise, fused, masks
from hopfield.attention.routes import heads_of

RNG = np.random.default_rng(0)
LENGTHS = jnp.array([7, 0])
MASKS = {
    "none": None,
    "causal": masks.causal(),
    "window": masks.sliding_window(3, 0),
    "causal window": masks.sliding_window(3) & masks.causal(),
    "padding": masks.padding(LENGTHS),
    "causal padding": masks.causal() & masks.padding(LENGTHS),
    "queries padded": masks.padding(LENGTHS, queries=True),
    "one length": masks.padding(5),
}
SHAPES = {  # query, key and value, and how the kernel is told of them
    "rows": (((8, 16), (11, 16)), (1, 1, 1)),
    "sequences": (((2, 8, 16), (2, 11, 16)), (2, 1, 1)),
    "heads": (((2, 3, 8, 16), (2, 3, 11, 16)), (2, 3, 3)),
    "shared keys": (((4, 8, 16), (1, 11, 16)), (1, 4, 1)),
    "groups": (((2, 3, 2, 8, 16), (2, 3, 1, 11, 16)), (2, 6, 3)),
    "queries shared": (((1, 8, 16), (2, 3, 11, 16)), (2, 3, 3)),
    "copied keys": (((2, 3, 8, 16), (1, 3, 11, 16)), None),
}


@pytest.fixture
def gpu(monkeypatch):
    """A machine with a GPU, of whose kernel XLA's own attention takes the place."""
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    monkeypatch.setattr(fused, "_compiles", lambda *shapes: True)
    monkeypatch.setattr(fused, "IMPLEMENTATION", "xla")
    jax.clear_caches()
    yield
    jax.clear_caches()


def rows(shape, dtype=jnp.bfloat16):
    query, key = SHAPES[shape][0]
    return tuple(jnp.asarray(RNG.standard_normal(size), dtype) for size in (query, key, key))


@pytest.mark.parametrize("shape", SHAPES)
def test_leading_axes_become_sequences_and_heads_without_a_copy_of_keys(shape):
    assert heads_of(*rows(shape)) == SHAPES[shape][1]


FURTHER = [("groups", "causal padding"), ("rows", "none"), ("shared keys", "causal")]
TAKEN = {
    "number": ({"beta": 0.3}, True),
    "default": ({}, True),
    "per head": ({"beta": jnp.array([0.3, 0.5, 1.0])}, True),
    "per head, float16": ({"beta": jnp.array([0.3, 0.5, 1.0]), "dtype": jnp.float16}, False),
    "float16": ({"dtype": jnp.float16}, True),
    "float32": ({"dtype": jnp.float32}, False),
    "temperature": ({"temperature": 2.0}, True),
    "blocks": ({"blocks": (4, 4)}, False),
    "potential": ({"return_potential": True}, False),
    "softmax1": ({"separation": "softmax1"}, False),
    "window to both sides": ({"mask": masks.sliding_window(3)}, False),
    "window that leaves queries empty": ({"mask": masks.sliding_window(3, 0), "queries": 20}, False),
    "window and padding": ({"mask": masks.sliding_window(3, 0) & masks.padding(LENGTHS)}, False),
    "array": ({"mask": jnp.ones((8, 11), bool)}, False),
    "key padding": ({"mask": masks.key_padding(jnp.ones(11, bool))}, False),
    "width 12": ({"width": 12}, False),
    "width 256": ({"width": 256}, True),
    "width 264": ({"width": 264}, False),
    **{f"mask, {name}": ({"mask": mask}, True) for name, mask in MASKS.items()},
}


@pytest.mark.parametrize("case", TAKEN)
def test_what_goes_to_the_kernel(case, gpu, monkeypatch):
    given, taken = dict(TAKEN[case][0]), TAKEN[case][1]
    width, queries, dtype = given.pop("width", 16), given.pop("queries", 8), given.pop("dtype", jnp.bfloat16)
    called = []
    monkeypatch.setattr(fused, "kernel", lambda *arrays: called.append(1) or arrays[0])
    query, key = jnp.ones((2, 3, queries, width), dtype), jnp.ones((2, 3, 11, width), dtype)
    jax.eval_shape(partial(attend_blockwise, **given), query, key, key)
    assert bool(called) == taken


def value_and_derivatives(function, at, along):
    """Read-out, gradient, tangent, Fisher product, Hessian product, and the gradient of a batch."""
    loss = lambda *x: jnp.sin(function(*x).astype(jnp.float32)).sum()
    slopes = jax.grad(loss, argnums=(0, 1, 2))
    output, moved = jax.jvp(function, at, along)
    batch = jax.vmap(slopes)(*(jnp.stack([x, d]) for x, d in zip(at, along, strict=True)))
    return output, moved, slopes(*at), jax.vjp(function, *at)[1](moved), jax.jvp(slopes, at, along)[1], batch


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "mask"),
    [*(("heads", mask) for mask in MASKS), *FURTHER],
)
def test_the_kernel_is_one_function_with_the_blocks_in_every_derivative(shape, mask, gpu, monkeypatch):
    at, along = rows(shape), rows(shape)
    function = partial(attend_blockwise, beta=0.3, mask=MASKS[mask])
    found = jax.jit(partial(value_and_derivatives, function))(at, along)
    monkeypatch.setattr(jax, "default_backend", lambda: "cpu")
    wide = [tuple(x.astype(jnp.float32) for x in some) for some in (at, along)]
    expected = jax.jit(partial(value_and_derivatives, function))(*wide)
    for ours, theirs in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        scale = float(jnp.abs(theirs).max()) + 0.1
        np.testing.assert_allclose(np.asarray(ours, np.float32) / scale, theirs / scale, atol=0.04)

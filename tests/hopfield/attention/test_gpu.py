"""Reads that cuDNN's kernel takes on a GPU: the table of docs/gpu.md, and the programs compiled of its rows."""

import importlib.util
import re
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from flax import nnx

from hopfield import _triton, separations
from hopfield.attention import _cut_reads, attend_blockwise, fused, masks, routes
from hopfield.layers import AssociationOptions, HopfieldAttention
from hopfield.layers._reading import queries_at_once
from tests.deviceless import compiled, h100

PAGE = Path(__file__).parents[3] / "docs" / "gpu.md"
T, S = 256, 320
MASKS = {
    "none": None,
    "`causal()`": masks.causal(),
    "`padding(lengths)`": masks.padding(jnp.array([200, 300])),
    "`causal() & padding(lengths)`": masks.causal() & masks.padding(jnp.array([200, 300])),
    "`sliding_window(64, 0)`": masks.sliding_window(64, 0),
    "`sliding_window(64)`": masks.sliding_window(64),
    "`key_padding(valid)`": masks.key_padding(jnp.ones((2, S), bool)),
    "array": jnp.ones((T, S), bool),
}
SHAPES = {
    "[T, D]": ((T, 64), (S, 64)),
    "[H, T, D]": ((4, T, 64), (4, S, 64)),
    "[B, H, T, D]": ((2, 4, T, 64), (2, 4, S, 64)),
    "[B, K, G, T, D] of [B, K, 1, S, D]": ((2, 2, 2, T, 64), (2, 2, 1, S, 64)),
    "[B, H, T, 256]": ((2, 4, T, 256), (2, 4, S, 256)),
    "[B, H, T, 320]": ((2, 4, T, 320), (2, 4, S, 320)),
}
BETAS = {"default": None, "number": 0.3, "per head": jnp.array([0.1, 0.2, 0.3, 0.4])}


def table():
    """Rows of the table under the heading "What goes where", as lists of cells."""
    section = re.search(r"## What goes where\n(.*?)\n## ", PAGE.read_text(), re.S)
    assert section is not None
    lines = [line for line in section[1].splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


def function_of(row):
    """Function and shapes of a row of the table."""
    what, axes, kind, mask, beta, _ = row
    name, separation = re.fullmatch(r"`(\w+)`, (.+)", what).groups()
    dtype, separation = jnp.dtype(kind), {"softmax₁": "softmax1"}.get(separation, separation)
    if name == "HopfieldAttention":
        return layer_of(separation, dtype, mask, beta)
    query, key = (jax.ShapeDtypeStruct(shape, dtype) for shape in SHAPES[axes])
    read = partial(attend_blockwise, mask=MASKS[mask], beta=BETAS[beta], separation=separation)
    return jax.grad(lambda *x: jnp.sum(read(*x).astype(jnp.float32)), argnums=(0, 1, 2)), (query, key, key)


def layer_of(separation, dtype, mask, beta):
    window = 64 if mask == "window=64" else None
    options = AssociationOptions(separation=separation, learn_beta=beta == "learned", window=window)
    layer = HopfieldAttention(4, 256, decode=False, dtype=dtype, options=options, rngs=nnx.Rngs(0))
    graph, state = nnx.split(layer)
    given = {"is_causal": {"is_causal": True}, "array": {"mask": jnp.ones((1, 1, T, T), bool)}}.get(mask, {})
    read = lambda state, x: nnx.merge(graph, state)(x, **given).astype(jnp.float32)
    return jax.grad(lambda state, x: jnp.sum(read(state, x)), argnums=(0, 1)), (
        state,
        jax.ShapeDtypeStruct((2, T, 256), dtype),
    )


def routed(row, triton):
    """Reader of a row of the table on a GPU with or without Triton."""
    what, axes, kind, mask, beta, _ = row
    name, separation = re.fullmatch(r"`(\w+)`, (.+)", what).groups()
    of_layer = name == "HopfieldAttention"
    shapes = ((2, 4, T, 64),) * 2 if of_layer else SHAPES[axes]
    query, key = (jax.ShapeDtypeStruct(shape, jnp.dtype(kind)) for shape in shapes)
    mask = {**MASKS, "is_causal": masks.causal(), "window=64": masks.sliding_window(63, 0)}[mask]
    separation = separations.find({"softmax₁": "softmax1"}.get(separation, separation))
    device = routes.Device("gpu", triton)
    folded = of_layer or beta == "per head"
    reader = routes.route(separation, routes.Shapes(query, key, key), mask, device, folded=folded)
    whole = of_layer and queries_at_once(query.shape, T, None) is None
    return "all scores" if whole and reader == "blocks" else reader


def test_the_page_is_the_table_of_routes():
    found = [[routed(row, triton) for triton in (True, False)] for row in table()]
    assert [", else ".join(dict.fromkeys(readers)) for readers in found] == [row[-1] for row in table()]
    query = jax.ShapeDtypeStruct((4, T, 64), jnp.bfloat16)
    rows = routes.Shapes(query, query, query)
    assert routes.route(separations.find("softmax"), rows, None, routes.Device("cpu")) == "blocks"


@pytest.fixture
def gpu(monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    monkeypatch.setattr(fused, "_compiles", lambda *shapes: True)
    jax.clear_caches()
    yield
    jax.clear_caches()


@pytest.mark.parametrize("row", table(), ids=", ".join)
def test_the_page_says_what_is_given_to_which_kernel(row, gpu, monkeypatch):
    given = []
    monkeypatch.setattr(fused, "kernel", lambda query, *rest: given.append("cuDNN") or query)
    monkeypatch.setattr(_triton, "installed", lambda: True)
    monkeypatch.setattr(_cut_reads, "read", lambda query, *rest: given.append("Triton") or query)
    function, shapes = function_of(row)
    jax.eval_shape(function, *shapes)
    assert set(given) == {"cuDNN", "Triton"} & {row[-1].partition(",")[0]}


@pytest.mark.skipif(importlib.util.find_spec("jax_cuda13_plugin") is None, reason="CUDA's wheels are not installed")
@pytest.mark.parametrize("row", table(), ids=", ".join)
def test_programs_compiled_for_a_gpu_call_the_kernel_where_the_page_says_so(row, gpu, monkeypatch):
    monkeypatch.setattr(_triton, "installed", lambda: False)  # jax-triton asks the device at hand, a CPU
    if "256" in row[1]:
        pytest.skip("JAX asks the device at hand, a CPU, for the width that its kernel takes")
    function, shapes = function_of(row)
    program = compiled(h100(), function, *shapes)
    assert program.fused == (row[-1] == "cuDNN")
    assert not (program.fused and program.loops)

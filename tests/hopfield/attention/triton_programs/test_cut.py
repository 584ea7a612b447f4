"""Triton kernels of weights above a threshold: in the interpreter against float64, and compiled for two devices."""

import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import attention, separations
from hopfield.attention import _cut_reads, masks, routes
from tests.hopfield.interpreter import take_for_gpu

pytest.importorskip("triton", reason="the extra kernels is not installed")


@pytest.fixture
def interpreted(monkeypatch):
    """Names of the kernels that the interpreter has run."""
    yield take_for_gpu(monkeypatch)
    jax.clear_caches()


LENGTHS = masks.padding(jnp.asarray([45, 30]))
CASES = [
    ("sparsemax", None),
    ("entmax:1.5", masks.causal() & LENGTHS),
    ("entmax:1.3", masks.sliding_window(7, 2)),
    ("normmax:1.5", LENGTHS),
    ("epanechnikov", masks.sliding_window(20, 0)),
]


def drawn(dtype):
    """Two heads that share keys, of lengths that no block divides, some queries without any key; and a cotangent."""
    rng, shapes = np.random.default_rng(0), ((2, 2, 70, 9), (2, 1, 45, 9), (2, 1, 45, 5), (2, 2, 70, 5))
    return [jnp.asarray(rng.standard_normal(shape), dtype) for shape in shapes]


def compare(read, separation, mask, dtype, tolerance):
    """Read-out and gradients of a function beside dense attention in float64."""
    *rows, slope = drawn(dtype)
    output, pull = jax.vjp(read, *rows)
    found = output, *pull(slope)
    dense = lambda *x: attention.attend(*x, separation=separation, mask=mask, beta=0.4)
    output, pull = jax.vjp(dense, *(x.astype(jnp.float64) for x in rows))
    for ours, expected in zip(found, (output, *pull(slope.astype(jnp.float64))), strict=True):
        size = float(jnp.abs(expected).max())
        np.testing.assert_allclose(np.asarray(ours, np.float64), expected, atol=tolerance * size)


@pytest.mark.parametrize(("separation", "mask"), CASES, ids=[name for name, _ in CASES])
def test_values_and_gradients_are_those_of_dense_attention_in_float64(separation, mask, interpreted):
    read = lambda *x: attention.attend_blockwise(*x, separation=separation, mask=mask, beta=0.4)
    compare(read, separation, mask, jnp.float32, 5e-6)
    assert interpreted[-2:] == ["queries_slope", "keys_slope"]


@pytest.mark.filterwarnings("ignore:All-NaN slice")  # of the interpreter, at a row that is lost
@pytest.mark.parametrize("separation", ["sparsemax", "entmax:1.5"])
def test_nan_in_a_query_or_a_key_is_nan_in_what_reads_it(separation, interpreted):
    query, key, value, _ = drawn(jnp.float32)
    read = lambda *x: attention.attend_blockwise(*x, separation=separation, beta=0.4)
    lost = jnp.isnan(read(query.at[0, 1, 3].set(jnp.nan), key, value))
    assert lost[0, 1, 3].all()
    assert lost.sum() == lost[0, 1, 3].size
    assert jnp.isnan(read(query, key.at[1, 0, 2].set(jnp.nan), value))[1].all()


def test_products_of_16_bits_are_summed_in_32(interpreted):
    """In float16: the interpreter multiplies the bits of bfloat16."""
    how = _cut_reads.how_of(separations.Entmax(1.5), 0.4, None)
    compare(lambda *x: _cut_reads.read(*x, None, how), "entmax:1.5", None, jnp.float16, 4e-3)


def test_all_kernels_compile_for_an_ampere_and_a_hopper():
    script = Path(__file__).with_name("compile_kernels.py")
    run = [sys.executable, str(script), "80", "90"]
    here = {"TRITON_INTERPRET": "0", "PYTHONPATH": str(Path(__file__).parents[4])}
    done = subprocess.run(run, env={**os.environ, **here}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 2 * (2 * 4 + 2)


def test_what_the_kernels_do_not_know_is_left_to_the_blocks():
    rows, device = routes.Shapes(*drawn(jnp.float32)[:3]), routes.Device("gpu", triton=True)
    asked = lambda separation, mask: routes.route(separation, rows, mask, device)
    assert asked(separations.Sparsemax(), masks.causal()) == "Triton"
    assert asked(separations.Sparsemax(), jnp.ones((70, 45), bool)) == "blocks"
    assert asked(separations.Entmax(1.01), None) == "blocks"
    assert asked(separations.SteepEntmax(2.5), None) == "blocks"
    assert asked(separations.TopK(3), None) == "blocks"

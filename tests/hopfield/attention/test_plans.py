"""Plans: a CPU's follow its cache, a GPU's its memory, and every size of attention has blocks that keep to them."""

import jax
import jax.numpy as jnp
import pytest

from hopfield import large
from hopfield.attention import plans
from hopfield.attention._blocks import block_lengths
from hopfield.layers._reading import queries_at_once


def test_a_long_layer_is_read_at_once_on_a_gpu_and_in_blocks_on_a_cpu(monkeypatch):
    shape = (4, 8, 4096, 64)  # 2²⁹ scores, of which a layer of Flax forms all
    assert queries_at_once(shape, 4096, None) == 64
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert queries_at_once(shape, 4096, None) is None
    monkeypatch.setattr(plans, "MEMORY", 2**30)
    assert queries_at_once(shape, 4096, None) == 16


@pytest.mark.parametrize("platform", ["cpu", "gpu"])
@pytest.mark.parametrize(("leading", "length"), [((), 100), ((4,), 32768), ((8, 16), 4096), ((), 2**20)])
def test_blocks_keep_to_the_plan(platform, leading, length, monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: platform)
    x = jax.ShapeDtypeStruct((*leading, length, 64), jnp.float32)
    queries, keys = block_lengths(x, x)
    scores = queries * keys
    for count in leading:
        scores *= count
    assert scores <= plans.plan().block
    assert keys <= min(length, plans.plan().keys)


@pytest.mark.parametrize(("platform", "patterns"), [("cpu", 2**12), ("gpu", 2**20)])
def test_a_source_is_read_in_larger_blocks_on_a_gpu(platform, patterns, monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: platform)
    assert large.block_size(1) == patterns

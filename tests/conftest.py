"""Strict numerics for the whole suite: 64-bit types available, no silent rank promotion, no GPU needed."""

import os
from collections.abc import Iterator

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("WANDB_MODE", "disabled")

import hypothesis
import jax
import matplotlib
import pytest

matplotlib.use("Agg")
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_numpy_rank_promotion", "raise")
hypothesis.settings.register_profile("few", derandomize=True, deadline=None, database=None, max_examples=8)
hypothesis.settings.load_profile("few")  # the same few examples every time


@pytest.fixture(autouse=True, scope="module")
def programs_are_forgotten() -> Iterator[None]:
    """Every compiled program holds memory maps, of which Linux grants a process 65530: all tests together need more."""
    yield
    jax.clear_caches()

"""Numerics of a run: JAX set for physics while it measures, and set back."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import jax
from jax.experimental.compilation_cache import compilation_cache

from experiments.shared import hardware
from experiments.system import provenance


@contextlib.contextmanager
def physics(used: hardware.Hardware | None = None) -> Iterator[None]:
    """JAX set for physics: float32 products in full, programs compiled once per machine. Undone on leaving.

    Args:
        used: what is measured on; what `hardware.current` gives if None.
    """
    cache = Path(os.path.expanduser(os.environ.get("XDG_CACHE_HOME") or "~/.cache")) / "hopfield" / "jax"
    settings = {
        "jax_default_matmul_precision": provenance.MATMUL,
        "jax_compilation_cache_dir": str(cache),
        "jax_persistent_cache_min_compile_time_secs": 0.0,
        "jax_persistent_cache_min_entry_size_bytes": -1,
    }
    before = {name: getattr(jax.config, name) for name in settings}
    if before["jax_compilation_cache_dir"] is not None:  # the user's own choice
        settings = {"jax_default_matmul_precision": provenance.MATMUL}
    try:
        for name, value in settings.items():
            jax.config.update(name, value)
        with hardware.using(used or hardware.current()):
            yield
    finally:
        for name in settings:
            jax.config.update(name, before[name])
        if "jax_compilation_cache_dir" in settings:
            compilation_cache.reset_cache()

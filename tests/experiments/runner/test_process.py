"""The process of a run: its memory, disk and settings, and the programs that JAX keeps."""

import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import jax
import pytest
from hydra.core.global_hydra import GlobalHydra
from jax.experimental.compilation_cache import compilation_cache

from experiments.runner import numerics


@pytest.mark.slow
def test_the_process_is_left_as_it_was(command: Callable) -> None:
    def state() -> tuple:
        settings = ("jax_default_matmul_precision", "jax_compilation_cache_dir", "jax_enable_x64")
        jax_settings = [getattr(jax.config, name) for name in settings]
        handlers = list(logging.getLogger().handlers), logging.getLogger().level
        hydra = GlobalHydra.instance().is_initialized()
        return (
            os.getcwd(),
            dict(os.environ),
            sys.argv[:],
            jax_settings,
            handlers,
            hydra,
            warnings.filters[:],
            sys.excepthook,
        )

    before = state()
    for line in ("conf=toy limit=1", "conf=toy -m seed=0,1 limit=1", "conf=toy seed=x", "conf=toy stop_at=0", "--help"):
        command(*line.split())
        assert state() == before, line


@pytest.fixture
def programs() -> Iterator[Callable[[Path | None], None]]:
    """Sets where JAX keeps programs, as a user does; undone at the end."""
    before = jax.config.jax_compilation_cache_dir

    def kept(folder: Path | None) -> None:
        jax.config.update("jax_compilation_cache_dir", None if folder is None else str(folder))
        compilation_cache.reset_cache()

    yield kept
    kept(before)


def test_products_are_exact_and_programs_are_kept_while_measuring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, programs: Callable
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    programs(None)
    with numerics.physics():
        assert jax.config.jax_default_matmul_precision == "highest"
        jax.jit(lambda x: x * 3 + 1)(2.0).block_until_ready()
    assert list((tmp_path / "hopfield/jax").iterdir())
    assert jax.config.jax_default_matmul_precision is None

"""Strict numerics for the whole suite: 64-bit types available, no silent rank promotion, no GPU needed."""

import atexit
import contextlib
import ctypes
import gc
import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

# Programs of tests run once on tiny arrays: compiling is their cost, and half of that is optimisation. Split between
# threads a program takes longer and twice the memory maps. A jaxlib that no longer knows one of these flags ends the
# process, as those after 0.10 do at the last.
os.environ.setdefault(
    "XLA_FLAGS",
    "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
    " --xla_cpu_parallel_codegen_split_count=1"
    + (" --xla_cpu_use_fusion_emitters=false" if version("jaxlib") < "0.11" else ""),
)
os.environ.setdefault("JAX_PLATFORMS", "cuda,cpu" if os.environ.get("HOPFIELD_TEST_PLATFORM") == "gpu" else "cpu")
# Threads of the linear algebra wait for each other in loops. Where workers of the tests share the cores that is most of
# what a decomposition takes: a basis for 232 matrices 0.2 s with one thread, up to 17 s with two.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Programs that several processes compile are compiled once; those of processes that tests kill go with the session.
if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
    os.environ["JAX_COMPILATION_CACHE_DIR"] = tempfile.mkdtemp(prefix="hopfield-tests-")
    atexit.register(shutil.rmtree, os.environ["JAX_COMPILATION_CACHE_DIR"], ignore_errors=True)
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
os.environ.setdefault("WANDB_MODE", "disabled")

import hypothesis
import jax
import matplotlib
import numpy as np
import pytest

import tests.shapes  # noqa: F401 - the hook of jaxtyping finds it by this name
from tests import samples
from tests.contexts import one_context


def _kept_programs() -> Path:
    """Folder of the programs that earlier runs of the tests have compiled for this kind of machine, flags and version.

    What no run has read for two weeks is removed.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hopfield-tests"
    processor = Path("/proc/cpuinfo")
    features = [line for line in processor.read_text().splitlines() if "flags" in line] if processor.exists() else []
    kind = [version("jax"), version("jaxlib"), os.environ["XLA_FLAGS"], sys.platform, *features[:1]]
    folder = cache / hashlib.sha256("\n".join(kind).encode()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    if "PYTEST_XDIST_WORKER" not in os.environ:
        for entry in cache.glob("*/*"):
            if time.time() - entry.stat().st_atime > 14 * 86400:
                entry.unlink(missing_ok=True)
    return folder


if Path(os.environ["JAX_COMPILATION_CACHE_DIR"]).name.startswith("hopfield-tests-"):  # none was asked for
    with contextlib.suppress(OSError, RuntimeError):  # no home, or none to write to
        jax.config.update("jax_compilation_cache_dir", str(_kept_programs()))
matplotlib.use("Agg")
gc.set_threshold(50_000, 20, 20)
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_numpy_rank_promotion", "raise")
if (
    os.environ.get("HOPFIELD_TEST_PLATFORM") == "gpu"
):  # the tolerances are those of float32: TF32's products would be off by 2⁻¹¹
    jax.config.update("jax_default_matmul_precision", "highest")
# Where in the source each operation came from, nobody reads here.
jax.config.update("jax_include_full_tracebacks_in_locations", False)
jax.config.update("jax_traceback_in_locations_limit", 0)
hypothesis.settings.register_profile("few", derandomize=True, deadline=None, database=None, max_examples=6)
hypothesis.settings.load_profile("few")  # the same few examples every time
forget_context = one_context()
LONG = {"slow", "physics", "process", "exhaustive"}


COMPILED = "/jax/core/compile/backend_compile_duration"
compiled = 0
imported: dict[str, Any] = {}
"""State of each module's generator before its first test."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--few", action="store_true", help="of a test with n cases run about √n, others in every commit")
    parser.addoption("--sample", help="the commit whose cases --few runs, by its hash (default: the last)")
    parser.addoption("--compilations", action="store_true", help="end with the ten tests that compile most programs")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.sample is None:
        config.option.sample = (
            samples.git("rev-parse", "--short", "HEAD").strip() or "0"
        )  # handed to the workers of xdist


def pytest_report_header(config: pytest.Config) -> str | None:
    return f"cases of this commit: --few --sample={config.option.sample}" if config.option.few else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Files with tests that take long come first: a worker that takes one last is waited for by the others."""
    if config.option.few:
        left_out = samples.all_but_few(items, config.option.sample)
        left_out -= samples.touched(left_out, config.option.sample)
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]
    long = {item.path for item in items if any(mark.name in LONG for mark in item.iter_markers())}
    items.sort(key=lambda item: item.path not in long)


@pytest.fixture(autouse=True)
def programs_are_counted(request: pytest.FixtureRequest) -> Iterator[None]:
    """The number of programs that a test needed, compiled or read from an earlier run, in its report."""
    before = compiled
    yield
    request.node.user_properties.append(("programs", compiled - before))


@pytest.fixture(autouse=True)
def draws_do_not_depend_on_other_tests(request: pytest.FixtureRequest) -> None:
    """A module's generator is set back before each test, so that a case alone draws what it draws among all."""
    generator = getattr(getattr(request, "module", None), "RNG", None)
    if isinstance(generator, np.random.Generator):
        generator.bit_generator.state = imported.setdefault(request.module.__name__, generator.bit_generator.state)


def _count(event: str, seconds: float, **kind: object) -> None:
    global compiled
    compiled += event == COMPILED


jax.monitoring.register_event_duration_secs_listener(_count)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The ten tests that compile most, where they are asked for."""
    if not config.option.compilations:
        return
    reports = [
        report
        for each in terminalreporter.stats.values()
        for report in each
        if getattr(report, "when", "") == "teardown"
    ]
    counts = {report.nodeid: dict(report.user_properties).get("programs", 0) for report in reports}
    terminalreporter.section(f"{sum(counts.values())} programs in {len(counts)} tests; the ten that need most")
    for name in sorted(counts, key=lambda name: -counts[name])[:10]:
        terminalreporter.line(f"{counts[name]:5} {name}")


def pytest_collection_finish() -> None:
    """Loaded modules stay to the end: the garbage collector need not go through it again and again."""
    gc.collect()
    gc.freeze()


MAPS = Path("/proc/self/maps")
TRIM = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None


@pytest.fixture(autouse=True, scope="module")
def memory_is_given_back() -> Iterator[None]:
    """Programs are forgotten before there are too many of them, a MiB each, and what they held returns to the system.

    Every compiled program holds memory maps, and Linux grants a process 65530: all tests together need more.
    """
    yield
    forget_context()
    if not MAPS.exists() or MAPS.read_bytes().count(b"\n") > 15_000:
        jax.clear_caches()
    if TRIM is not None:
        TRIM(0)

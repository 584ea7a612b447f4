"""The command in a directory of its own, with an experiment that costs nothing added to those there are."""

import contextlib
import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import jax
import pytest

import experiments
from experiments.figures import report
from experiments.run import main
from experiments.shared import pattern_sets
from tests.experiments.smoke import few

FIXTURE = Path(__file__).parent / "fixture"


class Outcome(NamedTuple):
    """Result of a command: exit code, stdout, stderr."""

    code: int
    out: str
    err: str


@contextlib.contextmanager
def as_the_command() -> Iterator[None]:
    """JAX as the command sets it, which is not as the other tests do: 32-bit numbers, products in full."""
    settings = {"jax_enable_x64": False, "jax_default_matmul_precision": "highest"}
    before = {name: getattr(jax.config, name) for name in settings}
    for change in (settings, before):
        for name, value in change.items():
            jax.config.update(name, value)
        pattern_sets._load.cache_clear()  # holds arrays of the precision there was
        if change is settings:
            yield


@pytest.fixture(scope="module")
def as_run() -> Iterator[None]:
    """JAX as the command sets it."""
    with as_the_command():
        yield


@pytest.fixture(scope="session")
def run_defaults(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., int]:
    """The command for an experiment: its name, directory, further words.

    Its options are the defaults, which are of smoke scale, with the first two entries of every list; it draws one file.
    """
    folder = tmp_path_factory.mktemp("defaults")
    (folder / "conf").mkdir()

    def run(name: str, directory: Path, *words: str) -> int:
        lines = f"# @package _global_\n# {name} at smoke scale.\ndefaults:\n  - /schema/{name}\n  - _self_\n"
        lines += "".join(f"{key}: {json.dumps(value)}\n" for key, value in few(name).items())
        (folder / "conf" / f"smoke_{name}.yaml").write_text(lines, encoding="utf-8")
        given = ["--config-dir", str(folder), f"conf=smoke_{name}", f"output={directory}", "wandb.mode=disabled"]
        with as_the_command():
            return main([*given, "figure.format=[svg]", *words])

    return run


@pytest.fixture(scope="session")
def smoke(tmp_path_factory: pytest.TempPathFactory, run_defaults: Callable[..., int]) -> Callable[[str], Path]:
    """The directory of a finished run of an experiment's defaults: one run for all tests of all workers."""
    place = tmp_path_factory.getbasetemp()
    place = place.parent if "PYTEST_XDIST_WORKER" in os.environ else place

    @functools.cache
    def directory(name: str) -> Path:
        finished = (place / "smoke" / name / report.NAME).is_file()  # another worker has run it
        assert finished or run_defaults(name, place / "smoke" / name) == 0
        return place / "smoke" / name

    return directory


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The words that add the toy experiment and its choices of `conf=` to a command line."""
    monkeypatch.setattr(experiments, "__path__", [*experiments.__path__, str(FIXTURE / "experiments")])
    yield ["--config-dir", str(FIXTURE)]
    for name in [name for name in sys.modules if name.startswith("experiments.toy")]:
        del sys.modules[name]


@pytest.fixture
def toy_process(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen]]:
    """`experiments.run` as a process of its own in `tmp_path`, for what only a process can show; killed at the end."""
    program = (
        # A shell starts its background jobs with Ctrl-C ignored, and children inherit that.
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        f"import sys, experiments; experiments.__path__.append({str(FIXTURE / 'experiments')!r});"
        f"from experiments.run import main; sys.exit(main(['--config-dir', {str(FIXTURE)!r}, *sys.argv[1:]]))"
    )
    started: list[subprocess.Popen] = []
    environment = os.environ | {
        "JAX_ENABLE_X64": str(int(jax.numpy.zeros(0).dtype == "float64"))
    }  # rows of both share a folder

    def start(*words: str) -> subprocess.Popen:
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        started.append(
            subprocess.Popen([sys.executable, "-c", program, *words], cwd=tmp_path, env=environment, text=True, **pipes)
        )
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def command(
    toy: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Outcome]:
    """`experiments.run` as a function of its words, run in an empty directory, without W&B."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_MODE", "disabled")

    def run(*words: str) -> Outcome:
        capsys.readouterr()
        code = main([*toy, *words])
        out, err = capsys.readouterr()
        return Outcome(code, out, err)

    return run

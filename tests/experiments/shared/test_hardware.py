"""Hardware of a run: the same rows however draws are laid out, and the choice of a device."""

import os
import subprocess
import sys
from dataclasses import dataclass

import jax
import numpy as np
import pytest

from experiments.contract import ROOT, Config
from experiments.shared import grids, hardware, retention
from experiments.shared.hardware import Hardware

CPU = jax.local_devices(backend="cpu")[:1]
AFTER, BESIDE = Hardware(tuple(CPU), 2), Hardware(tuple(CPU), 2, side_by_side=True)
NAMES = ["memory", "dynamics", "neurons", "patterns", "corruption", "beta", "max_steps", "sample"]
VALUES = [
    ("classical", "asynchronous", 32, 5, "flip:0.1", None, 20),
    ("exponential", "synchronous", 10, 40, "clean", 1.0, 10),
    ("modern", "synchronous", 10, 60, "clean", 1.0, 20),
]
POINTS = [dict(zip(NAMES, (*values, sample), strict=True)) for values in VALUES for sample in range(5)]


def program(point):
    kind = point["corruption"].partition(":")[0].replace("clean", "none")
    fixed = point["memory"], point["dynamics"], point["neurons"], 64, 4, kind, "random", False, point["max_steps"]
    return retention.Program(*fixed)


def measured(used: Hardware) -> list[dict]:
    with hardware.using(used):
        return sorted(retention.rows(0, POINTS, program), key=lambda row: (row["memory"], row["sample"]))


def check_alike(rows, others):
    """Equal counts, which are of final states of spins; other numbers to rounding."""
    for row, other in zip(rows, others, strict=True):
        assert row.keys() == other.keys()
        for name, value in row.items():
            exact = name in retention.COUNTS or not isinstance(value, float)
            assert value == other[name] if exact else np.allclose(value, other[name], 1e-5, 1e-6), name


@pytest.mark.exhaustive
def test_draws_side_by_side_give_the_rows_of_draws_one_after_the_other():
    check_alike(measured(AFTER), measured(BESIDE))


def square(kind, seed, data, draw, each):
    return {"square": draw["number"] ** 2}


@dataclass(frozen=True)
class Kind:
    """The one structure of a grid."""

    cost: float = 1.0


GRID = grids.Grid(lambda point: Kind(), square, {"number": np.float32})


def squares(used: Hardware, count: int = 11) -> dict:
    with hardware.telling(), hardware.using(used):
        return {row["number"]: row["square"] for row in grids.rows(GRID, 0, [{"number": i} for i in range(count)])}


@pytest.mark.parametrize(("memory", "told"), [(1e9, 11), (60.0, None), (0.0, 1)])
def test_as_many_draws_stand_side_by_side_as_memory_allows(monkeypatch, capsys, memory, told):
    monkeypatch.setattr(Hardware, "memory", lambda self: memory)
    assert squares(BESIDE) == {i: i**2 for i in range(11)}
    (line,) = capsys.readouterr().err.splitlines()
    draws = int(line.split(", ")[1].removesuffix(" draws at a time"))
    assert draws == told if told else 1 < draws < 11


@pytest.mark.process
def test_draws_are_divided_among_several_devices():
    code = (
        "import jax\n"
        "from experiments.shared.hardware import Hardware\n"
        "from tests.experiments.shared.test_hardware import squares\n"
        "assert squares(Hardware(tuple(jax.devices()), 1, True)) == {i: i**2 for i in range(11)}\n"
    )
    told = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=os.environ | told, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "2 cores, 12 draws at a time" in done.stderr or "1 core, 12 draws at a time" in done.stderr


class Gpu:
    """A device that is none."""

    platform, device_kind = "gpu", "NVIDIA H100"


@pytest.fixture
def with_gpu(monkeypatch):
    devices = lambda backend=None: CPU if backend == "cpu" else [Gpu()]
    monkeypatch.setattr(jax, "local_devices", devices)


@pytest.mark.parametrize(
    ("device", "work", "told"),
    [
        ("auto", 1e13, "NVIDIA H100"),
        ("gpu", 1.0, "NVIDIA H100"),
        ("cpu", 1e13, "3 cores"),
        ("auto", 1e6, "3 cores; NVIDIA H100 is left alone, for which so little would be compiled longer"),
    ],
)
def test_a_gpu_is_taken_where_it_is_asked_for_or_pays(with_gpu, device, work, told):
    chosen = hardware.choose(Config(device=device, workers=3), work)
    assert str(chosen) == told
    assert chosen.side_by_side == told.startswith("NVIDIA")

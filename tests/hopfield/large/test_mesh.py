"""Patterns and queries over several devices and processes give what one device gives."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import jax
import pytest

from hopfield.large import mesh as sharding

SCRIPT = Path(__file__).with_name("sharded.py")
ROOT = SCRIPT.parents[3]


def start(*arguments: str) -> subprocess.Popen:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(SCRIPT), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def rows(process: subprocess.Popen, timeout: float) -> list[list[str]]:
    try:
        output, errors = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert process.returncode == 0, errors[-2000:]
    return [line.split()[1:] for line in output.splitlines() if line.startswith("measured")]  # gloo has its say, too


@pytest.mark.process
def test_one_and_eight_devices_agree():
    """Weights to rounding, spins, counts and the largest patterns to the last one, for every kind of source."""
    found = rows(start(), 240)
    assert [row[1] for row in found] == [shape for shape in ("1x1", "8x1", "2x4") for _ in range(3)]
    for name, shape, off, same in found:
        assert float(off) < 1e-12, (name, shape)
        assert same == "True", (name, shape)


@pytest.mark.process
def test_two_processes_agree():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    processes = [start(address, "2", str(index)) for index in range(2)]
    try:
        for process in processes:
            ((name, shape, off, same),) = rows(process, 240)
            assert (name, shape, same) == ("generated", "2x1", "True")
            assert float(off) < 1e-12
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def test_one_process_and_one_device_need_no_mesh():
    assert not sharding.connect()
    assert (sharding.device_mesh() is None) == (len(jax.devices()) == 1)

"""Several processes on one sweep or one run: everything is measured once, by whoever is there, and nothing is lost."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.runner import locks

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[3]
WORDS = ["conf=toy", "-m", "seed=0,1,2,3", "output=out", "wandb.mode=disabled"]


def rows(folder: Path) -> list[str]:
    """Every whole row of all ledgers below a folder, repeated ones included."""
    files = sorted(folder.rglob("*.jsonl"))
    return [line for file in files for line in file.read_text().split("\n")[:-1] if '"row":' in line]


def test_shards_hold_a_folder_together_and_a_whole_run_waits_for_all_of_them(tmp_path: Path):
    with locks.claimed(tmp_path, "1/2") as first:
        assert first is not None
        assert first.alone
        first.share()
        with locks.claimed(tmp_path, "2/2") as second, locks.claimed(tmp_path, "1/2") as same:
            assert second is not None
            assert not second.alone
            assert same is None
            second.share()
            with locks.claimed(tmp_path) as whole:
                assert whole is None
            assert locks.is_held(tmp_path)
    with locks.claimed(tmp_path) as whole:
        assert whole is not None
        assert [path.name for path in tmp_path.iterdir()] == [locks.NAME]


HOLDER = """
import pathlib, sys, time
from experiments.runner import locks
from experiments.system import files
with locks.claimed(pathlib.Path(sys.argv[1])):
    pathlib.Path(sys.argv[1], ".hopfield-" + "0" * 32 + ".table.csv").write_text("half")
    print("held", flush=True)
    time.sleep(600)
"""


def hold(folder: Path) -> subprocess.Popen:
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(folder)], cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    return process


@pytest.mark.parametrize("stop", [signal.SIGSTOP, signal.SIGKILL])
def test_a_stopped_holder_is_waited_for_and_a_dead_one_leaves_nothing(tmp_path: Path, stop: signal.Signals):
    with hold(tmp_path) as process:
        process.send_signal(stop)
        if stop is signal.SIGKILL:
            process.wait()
        with locks.claimed(tmp_path) as claim:
            assert (claim is None) == (stop is signal.SIGSTOP)
        assert len(list(tmp_path.iterdir())) == 1 + (claim is None)
        process.kill()


def test_two_processes_share_a_sweep_and_measure_nothing_twice(
    command: Callable, toy_process: Callable, tmp_path: Path
):
    both = [toy_process(*WORDS, "delay=0.02") for _ in range(2)]
    said = [process.communicate(timeout=120)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    found = rows(tmp_path / "out")
    assert len(found) == len(set(found)) == 4 * 16
    shares = [sum(str(process.pid) in path.name for path in tmp_path.rglob("*.jsonl")) for process in both]
    assert min(shares) > 0, "one process did everything"
    assert command(*WORDS[:3], "output=alone").code == 0
    jobs = sorted(table.parent for table in (tmp_path / "alone").glob("*/table.csv"))
    assert len(jobs) == 4
    for job in jobs:
        assert (job / "table.csv").read_bytes() == (tmp_path / "out" / job.name / "table.csv").read_bytes()


def test_the_job_of_a_killed_process_is_taken_over_at_once(toy_process: Callable, tmp_path: Path):
    first = toy_process(*WORDS, "delay=4")  # a minute for its first job: the second process starts within it
    while not rows(tmp_path / "out"):
        assert first.poll() is None, first.communicate()
        time.sleep(0.01)
    second = toy_process(*WORDS)
    while len({path.parent for path in tmp_path.rglob("*.jsonl")}) < 2:
        assert second.poll() is None, second.communicate()
        time.sleep(0.01)
    first.send_signal(signal.SIGKILL)
    first.wait()
    _, said = second.communicate(timeout=60)
    assert second.returncode == 0, said
    assert "is being measured by another process; its turn comes" in said
    found = rows(tmp_path / "out")
    assert len(found) == len(set(found)) == 4 * 16

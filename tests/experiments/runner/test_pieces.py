"""Pieces of a run: rows of the ledger, shared by all processes that are at it, each measured once."""

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from experiments.runner import execute, locks, registry
from tests.experiments.runner import slurm

ROOT = Path(__file__).resolve().parents[3]
FIXTURE = ROOT / "tests/experiments/fixture"
TOY = ["conf=toy", "cuts=12", "wandb.mode=disabled"]


def parts(folder: Path) -> dict[str, list[int]]:
    """Pieces in each file of a ledger."""
    found = {}
    for file in folder.glob("*.jsonl"):
        rows = [entry["row"] for entry in map(json.loads, file.read_text().split("\n")[:-1]) if "row" in entry]
        found[file.name] = [row["piece"] for row in rows if "piece" in row]
    return {name: own for name, own in found.items() if own}


def until(folder: Path, number: int, *processes: subprocess.Popen, workers: int | None = None) -> None:
    """Wait for so many pieces in all, and for one of each process, or of so many workers."""
    expected = len(processes) if workers is None else workers
    while len(own := parts(folder)) < expected or sum(map(len, own.values())) < number:
        assert all(process.poll() is None for process in processes), [process.communicate() for process in processes]
        time.sleep(0.005)


def results(directory: Path) -> list[bytes]:
    return [(directory / name).read_bytes() for name in ("table.csv", "summary.json", "figure.svg")]


def test_rows_rest_on_the_rows_of_all_pieces(command: Callable, tmp_path: Path) -> None:
    assert command(*TOY, "output=out").code == 0
    assert list(parts(tmp_path / "out/ledger").values()) == [list(range(12))]
    lines = (tmp_path / "out/table.csv").read_text().splitlines()
    assert (lines[0], len(lines)) == ("kind,load,slope,sample,response,trials", 17)
    assert [path.name for path in (tmp_path / "out").glob("claim*")] == []


def test_a_stopped_run_says_how_many_pieces_it_kept(command: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    toy, measured = registry.load("toy"), []

    def stopping(config: object, piece: dict) -> dict:
        if len(measured) == 5:
            raise KeyboardInterrupt
        measured.append(piece)
        return piece | {"part": 0.5}

    monkeypatch.setattr(toy, "measure_piece", stopping)
    outcome = command(*TOY, "output=out")
    assert outcome.code == 130
    assert "0 of 16 points, and 5 of 12 pieces of the others, are kept" in outcome.err


def test_workers_of_a_sweep_have_one_folder(command: Callable, tmp_path: Path) -> None:
    assert command(*TOY, "-m", "worker=0,1", "output=out").code == 0
    assert command(*TOY, "-m", "worker=0,1", "seed=0,1", "output=sweep").code == 0
    assert (tmp_path / "out/table.csv").exists()
    assert sorted(path.name for path in (tmp_path / "sweep").iterdir() if path.is_dir()) == ["seed_0", "seed_1"]
    assert (tmp_path / "sweep/seed_0/table.csv").read_bytes() == (tmp_path / "out/table.csv").read_bytes()


def test_no_pieces_are_measured_for_a_run_that_has_not_begun(command: Callable, tmp_path: Path, monkeypatch) -> None:
    """Its holder may be moving other results aside."""
    looks = []

    def look(seconds: float) -> None:
        looks.append(parts(tmp_path / "out/ledger"))
        raise KeyboardInterrupt

    monkeypatch.setattr(execute.time, "sleep", look)
    (tmp_path / "out").mkdir()
    with locks.claimed(tmp_path / "out"):
        assert command(*TOY, "output=out").code == 130
    assert looks == [{}]


@pytest.mark.process
def test_a_run_killed_amid_its_pieces_goes_on_from_the_last(
    command: Callable, toy_process: Callable, tmp_path: Path
) -> None:
    process = toy_process(*TOY, "output=out", "delay=0.1")
    until(tmp_path / "out/ledger", 4, process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = parts(tmp_path / "out/ledger")
    assert 4 <= sum(map(len, kept.values())) < 12
    assert command(*TOY, "output=out").code == 0
    found = parts(tmp_path / "out/ledger")
    assert sorted(itertools.chain(*found.values())) == list(range(12)), "no piece is measured twice"
    assert all(found[name] == own for name, own in kept.items())
    assert command(*TOY, "output=whole").code == 0
    assert results(tmp_path / "out") == results(tmp_path / "whole")


@pytest.mark.process
def test_two_processes_share_the_pieces_of_one_run_and_one_ends_it_when_the_other_is_killed(
    command: Callable, toy_process: Callable, tmp_path: Path
) -> None:
    words = [*TOY, "cuts=60", "output=out", "delay=0.1"]
    words.remove("cuts=12")
    pair = [toy_process(*words, f"worker={number}") for number in range(2)]
    until(tmp_path / "out/ledger", 8, *pair)
    holder = json.loads((tmp_path / "out/claim.json").read_text())["process"]
    killed, other = sorted(pair, key=lambda process: process.pid != holder)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert other.wait(timeout=120) == 0, other.communicate()
    found = parts(tmp_path / "out/ledger")
    assert len(found) == 2
    assert sorted(itertools.chain(*found.values())) == list(range(60))
    assert command("conf=toy", "cuts=60", "output=whole").code == 0
    assert results(tmp_path / "out") == results(tmp_path / "whole")


ENGINES = {
    "joblib": ["hydra/launcher=joblib", "hydra.launcher.n_jobs=2"],
    "submitit_local": ["hydra/launcher=submitit_local", "hydra.launcher.cpus_per_task=1"],
    "submitit_slurm": ["hydra/launcher=submitit_slurm", "hydra.launcher.cpus_per_task=1"],
    "ray": ["hydra/launcher=ray", "++hydra.launcher.ray.init.num_cpus=2"],
}


@pytest.mark.process
@pytest.mark.parametrize("name", ENGINES)
def test_workers_of_an_engine_share_the_pieces_of_one_run_and_one_of_them_may_be_killed(
    command: Callable, tmp_path: Path, name: str
) -> None:
    """The same command, given again where an engine gives up with its worker, measures no piece twice."""
    pytest.importorskip(f"hydra_plugins.hydra_{name.split('_')[0]}_launcher")
    words = ["conf=toy", "cuts=40", "delay=0.1", "-m", "worker=0,1", f"output={tmp_path / 'out'}", *ENGINES[name]]
    line = [sys.executable, "-m", "experiments.run", "--config-dir", str(FIXTURE), "wandb.mode=disabled", *words]
    places = os.pathsep.join([str(slurm.folder_of_commands(tmp_path / "bin")), os.environ["PATH"]])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), "PATH": places}
    start = partial(subprocess.Popen, line, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL)
    with start() as parent:
        until(tmp_path / "out/ledger", 8, parent, workers=2)
        os.kill(json.loads((tmp_path / "out/claim.json").read_text())["process"], signal.SIGKILL)
        while not (tmp_path / "out/figure.svg").exists() and parent.poll() is None:
            time.sleep(0.05)
        if not (tmp_path / "out/figure.svg").exists():
            start().wait(timeout=240)
        with contextlib.suppress(subprocess.TimeoutExpired):
            parent.wait(timeout=10)
        parent.kill()  # submitit asks SLURM about a lost job every ten minutes
    found = parts(tmp_path / "out/ledger")
    assert len(found) >= 2
    assert sorted(itertools.chain(*found.values())) == list(range(40)), "no piece is measured twice"
    assert command("conf=toy", "cuts=40", "output=whole").code == 0
    assert results(tmp_path / "out") == results(tmp_path / "whole")

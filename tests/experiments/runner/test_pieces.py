"""Pieces of a run, and its shards: what is on disk is not measured again, and ends as a run that was never divided."""

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

from tests.experiments.runner import slurm

ROOT = Path(__file__).resolve().parents[3]
FIXTURE = ROOT / "tests/experiments/fixture"


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


@pytest.mark.slow
@pytest.mark.parametrize("cuts", [0, 12])
def test_shards_end_as_the_whole_run_whoever_comes_last(command: Callable, tmp_path: Path, cuts: int) -> None:
    words = ["conf=toy", f"cuts={cuts}", "wandb.mode=disabled"]
    said = [command(*words, "output=out", f"shard={number}/3").err for number in (3, 1, 3, 2)]
    assert [len(text.split(" are left to others")) for text in said] == [2, 2, 2, 1]
    assert command(*words, "output=whole").code == 0
    assert results(tmp_path / "out") == results(tmp_path / "whole")
    lines = [line for file in (tmp_path / "out/ledger").glob("*.jsonl") for line in file.read_text().splitlines()]
    assert len({line for line in lines if '"key"' in line}) == 16 + cuts
    assert [path.name for path in (tmp_path / "out").glob(".*")] == [".claim"]


ENGINES = {
    "joblib": ["hydra/launcher=joblib", "hydra.launcher.n_jobs=2"],
    "submitit_local": ["hydra/launcher=submitit_local", "hydra.launcher.cpus_per_task=1"],
    "submitit_slurm": ["hydra/launcher=submitit_slurm", "hydra.launcher.cpus_per_task=1"],
    "ray": ["hydra/launcher=ray", "++hydra.launcher.ray.init.num_cpus=2"],
}


@pytest.mark.process
@pytest.mark.parametrize("name", ENGINES)
def test_shards_of_an_engine_end_as_the_whole_run_though_one_of_them_is_killed(
    command: Callable, tmp_path: Path, name: str
) -> None:
    """The same command, given again where an engine gives up with its worker, measures no piece twice."""
    pytest.importorskip(f"hydra_plugins.hydra_{name.split('_')[0]}_launcher")
    words = ["conf=toy", "cuts=40", "delay=0.1", "-m", "shard=1/2,2/2", f"output={tmp_path / 'out'}", *ENGINES[name]]
    line = [sys.executable, "-m", "experiments.run", "--config-dir", str(FIXTURE), "wandb.mode=disabled", *words]
    places = os.pathsep.join([str(slurm.folder_of_commands(tmp_path / "bin")), os.environ["PATH"]])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), "PATH": places}
    start = partial(subprocess.Popen, line, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL)
    with start() as parent:
        until(tmp_path / "out/ledger", 8, parent, workers=2)
        worker = next((tmp_path / "out/ledger").glob("*.jsonl")).name.split("-")[-2]  # host-PROCESS-random.jsonl
        os.kill(int(worker), signal.SIGKILL)
        late = time.time() + 20
        while not (tmp_path / "out/figure.svg").exists() and parent.poll() is None and time.time() < late:
            time.sleep(0.05)
        parent.kill()  # submitit asks SLURM about a lost job every ten minutes
    if not (tmp_path / "out/figure.svg").exists():
        start().wait(timeout=240)
    found = parts(tmp_path / "out/ledger")
    assert len(found) >= 2
    assert sorted(itertools.chain(*found.values())) == list(range(40)), "no piece is measured twice"
    assert command("conf=toy", "cuts=40", "output=whole").code == 0
    assert results(tmp_path / "out") == results(tmp_path / "whole")

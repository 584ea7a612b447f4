"""Several runs as one: joined tables, pooled seeds, one figure, one report."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas
import pytest

from experiments.plot import main as plot
from experiments.runner import registry

ROOT = Path(__file__).resolve().parents[3]
FIXTURE = ROOT / "tests/experiments/fixture"
FILES = {
    ".claim",
    "figure.pdf",
    "figure.png",
    "figure.svg",
    "joined.json",
    "report.html",
    "run.json",
    "summary.json",
    "table.csv",
}


@pytest.mark.slow
def test_a_sweep_ends_with_one_table_summary_figure_and_report(command: Callable, tmp_path: Path) -> None:
    outcome = command("-m", "conf=toy", "seed=0,1", "noise=0.0,0.5", "output=out", "limit=1")
    assert outcome.code == 0
    assert outcome.out.endswith(f"sweep: {tmp_path}/out/report.html\n")
    assert {path.name for path in (tmp_path / "out").iterdir() if path.is_file()} == FILES
    table = pandas.read_csv(tmp_path / "out/table.csv")
    assert list(table.columns[:2]) == ["seed", "noise"]
    parts = [pandas.read_csv(path) for path in sorted((tmp_path / "out").glob("*/table.csv"))]
    assert len(table) == sum(map(len, parts)) == 32
    summary = json.loads((tmp_path / "out/summary.json").read_text())
    assert [group["label"] for group in summary["groups"]] == ["noise=0", "noise=0.5"]
    pooled = table[table["noise"] == 0.5]["response"].mean()
    assert summary["groups"][1]["summary"]["mean"] == pytest.approx(pooled, rel=1e-12)
    assert set(summary["scalars"]) >= {"noise=0.5/response", "noise=0.5/response/stderr"}
    text = (tmp_path / "out/report.html").read_text()
    assert "-m conf=toy seed=0,1 noise=0.0,0.5 output=out" in text
    assert 'href="seed_0%2Bnoise_0.5' in text


@pytest.mark.slow
def test_samples_of_different_seeds_are_never_taken_for_one(
    command: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    toy = registry.load("toy")
    summarise = toy.summarise
    monkeypatch.setattr(toy, "summarise", lambda table: seen.append(table) or summarise(table))
    command("-m", "conf=toy", "seed=0,1,2", "output=out", "kinds=[red]", "slopes=[1.0]")
    joined = seen[-1]
    assert (len(joined), joined["sample"].nunique()) == (12, 6)
    assert not joined.duplicated(["kind", "load", "slope", "sample"]).any()
    kept = pandas.read_csv(tmp_path / "out/table.csv")
    assert kept["seed"].nunique() == 3
    assert not kept.duplicated(["seed", "kind", "load", "slope", "sample"]).any()


@pytest.mark.slow
def test_rows_that_are_one_measurement_stand_once(command: Callable, tmp_path: Path) -> None:
    command("conf=toy", "output=a", "kinds=[red]")
    command("conf=toy", "output=b")
    assert plot(["a", "b", "output=joined"]) == 0
    command("conf=toy", "output=whole")
    columns = ["kind", "load", "slope", "sample"]
    joined, whole = (pandas.read_csv(tmp_path / name / "table.csv") for name in ("joined", "whole"))
    assert len(joined) == len(whole) == 16
    same = joined.drop(columns="kinds").sort_values(columns, ignore_index=True)
    pandas.testing.assert_frame_equal(same, whole.sort_values(columns, ignore_index=True))
    assert json.loads((tmp_path / "joined/summary.json").read_text())["mean"] == pytest.approx(whole["response"].mean())


@pytest.mark.slow
def test_a_sweep_without_an_output_has_a_folder_named_by_what_was_swept(command: Callable, tmp_path: Path) -> None:
    assert command("-m", "conf=toy", "seed=0,1", "limit=1").code == 0
    assert {path.name for path in (tmp_path / "outputs/toy/sweeps/seed=0,1").iterdir()} == FILES


MARK = "HOPFIELD_SWEEP_UNDER_TEST"


def family(mark: str) -> Iterator[int]:
    """Processes begun under a mark, their children and what left their session included."""
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # gone, or somebody else's
            if f"{MARK}={mark}".encode() in (place / "environ").read_bytes().split(b"\0"):
                yield int(place.name)


def kill(begun: subprocess.Popen, mark: str) -> None:
    """End a command and all that it began at once, and again those that were being born."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(begun.pid, signal.SIGKILL)
    begun.wait()
    while left := list(family(mark)):
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.1)


@pytest.mark.process
def test_a_sweep_killed_in_mid_run_ends_with_the_serial_table(tmp_path: Path) -> None:
    words = ["--config-dir", str(FIXTURE), "-m", "conf=toy", "seed=0,1,2", "noise=0.1,0.5", "wandb.mode=disabled"]
    words += ["delay=0.03"]
    mark = tmp_path.name

    def begin(output: str) -> subprocess.Popen:
        line = [sys.executable, "-m", "experiments.run", *words, f"output={tmp_path / output}"]
        pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), MARK: mark}
        return subprocess.Popen(line, cwd=tmp_path, env=environment, start_new_session=True, **pipes)

    killed = begin("out")
    try:
        deadline = time.monotonic() + 120
        while sum(path.read_bytes().count(b'"row"') for path in tmp_path.glob("out/*/ledger/*.jsonl")) < 20:
            assert killed.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
    finally:
        kill(killed, mark)
    assert not (tmp_path / "out/table.csv").exists()
    assert begin("out").wait(timeout=240) == 0
    assert begin("serial").wait(timeout=240) == 0
    for name in ("table.csv", "summary.json", "figure.svg"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "serial" / name).read_bytes(), name
    assert len(pandas.read_csv(tmp_path / "out/table.csv")) == 96

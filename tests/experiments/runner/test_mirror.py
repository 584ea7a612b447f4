"""Weights & Biases as a mirror: an offline run read back, an online run against a server, and servers that fail."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.experiments.runner.wandb_server import Server
from tests.source_code import ROOT

KEY = "a" * 40


@pytest.fixture
def server(wandb_environment: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A running server that W&B takes for its own, and a key for it."""
    server = Server()
    monkeypatch.setenv("WANDB_BASE_URL", server.url)
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    yield server
    server.die()


@pytest.fixture
def wandb_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Callable) -> None:
    """W&B as on a fresh machine, its own files under `tmp_path`."""
    for name in ("WANDB_MODE", "WANDB_API_KEY", "WANDB_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("CONFIG", "CACHE", "DATA"):
        monkeypatch.setenv(f"WANDB_{name}_DIR", str(tmp_path / "home" / name))
    monkeypatch.setenv("WANDB_ERROR_REPORTING", "false")


def records(directory: Path) -> list[dict]:
    """Records that `wandb leet inspect --json` reads in the offline run of a results directory."""
    (run,) = (directory / "wandb").glob("offline-run-*")
    program = Path(sys.executable).with_name("wandb")
    done = subprocess.run([program, "leet", "inspect", "--json", run], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def ledger(directory: Path) -> list[dict]:
    """The rows of a results directory, in the order of measurement."""
    files = sorted((directory / "ledger").glob("*.jsonl"), key=lambda file: file.stat().st_mtime)
    lines = [line for file in files for line in file.read_text().splitlines(keepends=True) if "\n" in line]
    return [entry["row"] for entry in map(json.loads, lines) if "row" in entry]


def of_type(records: list[dict], kind: str) -> list[dict]:
    return [record[kind] for record in records if record["type"] == kind]


def assert_series(history: list[dict], rows: list[dict]) -> None:
    """Every curve has a name and, at every x once, the mean over its samples; no error is a series."""
    assert sorted(row["_step"] for row in history) == list(range(8))
    for kind in ("red", "blue"):
        for slope in (1, 2):
            name = f"{kind}, slope={slope}/response"
            curve = {row["load"]: row[name] for row in history if name in row}
            assert sorted(curve) == [0.5, 1.0]
            for load, mean in curve.items():
                at = [r["response"] for r in rows if (r["kind"], r["slope"], r["load"]) == (kind, slope, load)]
                assert mean == pytest.approx(sum(at) / 2)


def test_a_forecast_without_a_key_asks_nobody(tmp_path: Path) -> None:
    """Neither W&B nor Matplotlib is imported: they take as long as the rest."""
    program = """
import sys
from experiments import run
assert run.main(["conf=capacity", "dry=true"]) == 0
print(sorted({"wandb", "matplotlib"} & sys.modules.keys()))
"""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("WANDB_") and name != "NETRC"}
    ran = subprocess.run(
        [sys.executable, "-c", program], env=kept | {"HOME": str(tmp_path)}, cwd=ROOT, capture_output=True, text=True
    )
    assert ran.stdout.splitlines()[-1] == "[]", ran.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("wandb_environment")
def test_an_offline_run_reads_back_with_all_that_was_measured(command: Callable, tmp_path: Path) -> None:
    words = ["conf=toy", "seed=3", "output=out", "wandb.group=siblings", "wandb.tags=[first]", "wandb.name=Ada"]
    outcome = command(*words)
    assert (outcome.code, outcome.err) == (0, "")
    written = records(tmp_path / "out")

    (run,) = of_type(written, "run")
    assert (run["project"], run["run_group"], run["job_type"]) == ("hopfield", "siblings", "toy")
    assert (run["tags"], run["display_name"]) == (["toy", "first"], "Ada")
    assert run["config"]["update"].items() >= {"seed": 3, "loads": [0.5, 1], "shape": "uniform", "limit": None}.items()

    metrics = of_type(written, "metric")
    assert {metric.get("name") for metric in metrics} >= {"load"}
    assert [metric["step_metric"] for metric in metrics if metric.get("glob_name") == "*"] == ["load"]

    assert_series([record["item"] for record in of_type(written, "history")], ledger(tmp_path / "out"))
    folder = {"conf": "toy", "experiment": "toy", "folder": str(tmp_path / "out")}
    assert run["config"]["update"].items() >= folder.items()
    (place,) = (tmp_path / "out/wandb").glob("offline-run-*")
    assert f"W&B: offline; wandb sync {place} sends it\n" in outcome.out

    summary = {key: value for part in of_type(written, "summary") for key, value in part["update"].items()}
    assert summary["response"] == json.loads((tmp_path / "out/summary.json").read_text())["estimates"][0]["value"]
    assert (summary["table._type"], summary["table.nrows"], summary["figure._type"]) == ("table-file", 16, "image-file")
    files = {content["path"] for part in of_type(written, "artifact") for content in part["manifest"]["contents"]}
    assert files >= {
        "report.html",
        "run.json",
        "table.csv",
        "summary.json",
        "estimates.csv",
        "config.yaml",
        "figure.svg",
        "figure.png",
        "figure.pdf",
    }
    assert [end["exit_code"] for end in of_type(written, "exit")] == [0]
    again = command(*words)
    assert again.code == 0
    assert f"W&B: offline; wandb sync {place} sends it\n" in again.out
    assert [*(tmp_path / "out/wandb").glob("offline-run-*")] == [place]


def test_an_online_run_reaches_the_server(server: Server, command: Callable, tmp_path: Path) -> None:
    outcome = command("conf=toy", "output=out")
    assert (outcome.code, outcome.err) == (0, "")

    created = next(variables for name, variables in server.queries if name == "UpsertBucket")
    assert (created["project"], created["groupName"], created["jobType"]) == ("hopfield", "toy", "toy")
    assert json.loads(created["config"])["slopes"] == {"value": [1, 2]}
    rows = server.lines["wandb-history.jsonl"]
    measured = ledger(tmp_path / "out")
    assert_series(rows, measured)
    mean = sum(row["response"] for row in measured) / 16
    assert server.lines["wandb-summary.json"][-1]["response"] == pytest.approx(mean)
    assert any(name.startswith("media/images/figure") for name in server.files)
    assert any(name.startswith("media/table/table") for name in server.files)
    saved = [variables["input"]["artifactTypeName"] for name, variables in server.queries if name == "CreateArtifact"]
    assert "results" in saved


def table_without_wandb(command: Callable, tmp_path: Path) -> str:
    assert command("conf=toy", "output=alone", "wandb.mode=disabled").code == 0
    return (tmp_path / "alone/table.csv").read_text()


@pytest.mark.process
@pytest.mark.parametrize("accident", ["dies", "hangs"])
def test_a_server_that_fails_in_mid_run_costs_a_warning_and_no_result(
    server: Server,
    command: Callable,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    toy_process: Callable,
    accident: str,
) -> None:
    expected = table_without_wandb(command, tmp_path)
    monkeypatch.setenv("WANDB_HTTP_TIMEOUT", "1")
    process = toy_process("conf=toy", "output=out", "delay=0.1", "wandb.finish_timeout=1")
    deadline = time.monotonic() + 60
    while len(ledger(tmp_path / "out")) < 3:
        assert time.monotonic() < deadline, "no row was measured"
        time.sleep(0.02)
    assert "UpsertBucket" in dict(server.queries), "the run did not begin online"
    server.die() if accident == "dies" else server.fall_silent()
    assert not (tmp_path / "out/table.csv").exists(), "the run was over before the accident"
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert (tmp_path / "out/table.csv").read_text() == expected
    assert re.fullmatch(r"warning: W&B .* results in \S+ are not affected\n", err)
    assert f"figure: {tmp_path}/out/figure.svg" in out


@pytest.mark.slow
@pytest.mark.parametrize("accident", ["refuses", pytest.param("hangs", marks=pytest.mark.process)])
def test_a_server_that_cannot_be_reached_makes_the_run_offline(
    server: Server, command: Callable, tmp_path: Path, accident: str
) -> None:
    server.die() if accident == "refuses" else server.fall_silent()
    outcome = command("conf=toy", "output=out", "wandb.init_timeout=2")
    assert outcome.code == 0
    assert re.fullmatch(r"warning: W&B did not start and the run goes on offline .*\n", outcome.err)
    assert len(of_type(records(tmp_path / "out"), "history")) == 8

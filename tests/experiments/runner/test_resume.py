"""A run resumes, whenever and however stopped, and ends with the same table."""

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from experiments.runner.ledger import Ledger

POINTS = [{"load": load, "sample": sample} for load in (0.1, 0.2) for sample in range(3)]


def rows(folder: Path) -> list[dict]:
    """Every whole row of a ledger, repeated ones included."""
    lines = [line for file in folder.glob("*.jsonl") for line in file.read_text().split("\n")[:-1]]
    return [entry["row"] for entry in map(json.loads, lines) if "row" in entry]


def results(directory: Path) -> dict[str, bytes]:
    """Files that must not depend on how often a run was stopped."""
    return {name: (directory / name).read_bytes() for name in ("table.csv", "summary.json", "figure.svg", "figure.png")}


@pytest.mark.parametrize("cut", [1, 5, 30, 10_000])
def test_the_torn_last_line_of_a_killed_process_is_measured_again(tmp_path: Path, cut: int) -> None:
    ledger = Ledger(tmp_path, "test", {})
    for point in POINTS:
        ledger.record(point, {**point, "overlap": 1 / 3})
    ledger.close()
    (file,) = tmp_path.glob("*.jsonl")
    whole = file.read_bytes()
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    file.write_bytes(whole[: max(last, len(whole) - cut)])

    again = Ledger(tmp_path, "test", {})
    assert again.missing(POINTS) == POINTS[-1:]
    again.record(POINTS[-1], {**POINTS[-1], "overlap": 1 / 3})
    assert Ledger(tmp_path, "test", {}).missing(POINTS) == []


def test_rows_come_back_bit_for_bit(tmp_path: Path) -> None:
    values = [
        0.1,
        1 / 3,
        1e-300,
        float("nan"),
        float("inf"),
        np.float32(0.1),
        np.float64(2) / 3,
        np.int64(7),
        True,
        None,
    ]
    row = {str(number): value for number, value in enumerate(values)}
    ledger = Ledger(tmp_path, "test", {})
    ledger.record(POINTS[0], row)
    (measured,), (reloaded,) = ledger.rows(POINTS[:1]), Ledger(tmp_path, "test", {}).rows(POINTS[:1])
    assert repr(measured) == repr(reloaded)
    assert list(measured) == list(row)
    assert [repr(value) for value in measured.values()][:3] == ["0.1", repr(1 / 3), "1e-300"]
    assert measured["5"] == float(np.float32(0.1))


def test_keys_tell_points_experiments_and_options_apart(tmp_path: Path) -> None:
    key = Ledger(tmp_path, "test", {"seed": 0}).key
    assert key({"a": 1, "b": 2.5}) == key({"b": 2.5, "a": 1})
    others = [
        Ledger(tmp_path, "other", {"seed": 0}).key({"a": 1, "b": 2.5}),
        Ledger(tmp_path, "test", {"seed": 1}).key({"a": 1, "b": 2.5}),
        key({"a": 1}),
        key({"a": 2, "b": 2.5}),
    ]
    assert len({key({"a": 1, "b": 2.5}), *others}) == 5


@pytest.mark.process
def test_ctrl_c_in_a_terminal_is_one_line_and_exit_130(toy_process: Callable, tmp_path: Path) -> None:
    process = toy_process("conf=toy", "output=out", "delay=0.1", "wandb.mode=offline")
    while len(rows(tmp_path / "out/ledger")) < 2:
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    kept = len(rows(tmp_path / "out/ledger"))
    assert err == f"interrupted: {kept} of 16 points are kept in {tmp_path}/out; the same command goes on from there\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "missing"),
    [
        (["samples=3"], 8),
        (["samples=1"], 0),
        (["delay=0.001", "wandb.project=other"], 0),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_only_rows_of_the_same_science_are_used_again(
    command: Callable, tmp_path: Path, words: list[str], missing: int
) -> None:
    command("conf=toy", "output=out")
    assert command("conf=toy", "output=out", *words).code == 0
    assert len(rows(tmp_path / "out/ledger")) == 16 + missing
    command("conf=toy", "output=alone", *words)
    assert (tmp_path / "out/table.csv").read_bytes() == (tmp_path / "alone/table.csv").read_bytes()


@pytest.mark.process
def test_a_killed_run_measures_only_what_is_missing_and_ends_with_the_same_table(
    command: Callable, toy_process: Callable, tmp_path: Path
) -> None:
    folder = tmp_path / "out/ledger"
    words = ["conf=toy", "output=out", "wandb.mode=disabled"]
    for moment in (0, 1, 9):
        process = toy_process(*words, "delay=0.05")
        while len(rows(folder)) < moment or not (tmp_path / "out/config.yaml").exists():
            assert process.poll() is None, process.communicate()
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    assert not (tmp_path / "out/table.csv").exists(), "the run was over before it was killed"
    kept = len(rows(folder))
    outcome = command(*words)
    assert outcome.code == 0
    assert f"{kept} of 16 points are measured already" in outcome.err
    measured = [json.dumps(row) for row in rows(folder)]
    assert len(measured) == len(set(measured)) == 16
    assert command("conf=toy", "output=whole").code == 0
    assert results(tmp_path / "out") == results(tmp_path / "whole")

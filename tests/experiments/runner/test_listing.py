"""The list of runs: what each was asked, how far it is, what it found."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from experiments.runner import locks
from experiments.runner.listing import is_selected
from experiments.runs import main as runs


@pytest.fixture
def three(command: Callable, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["limit=1"], ["limit=1", "seed=3"], ["slopes=[0.5]", "stop_at=2"]):
        command("conf=toy", *words)
        time.sleep(0.01)
    capsys.readouterr()


def test_a_list_tells_state_points_options_and_numbers(three: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert runs([]) == 0
    first, second, third = capsys.readouterr().out.split("outputs/")[1:]
    assert first.startswith("toy/stop_at=2+slopes=0.5: interrupted, 2 of 8 points, ") or first.startswith(
        "toy/slopes=0.5+stop_at=2: interrupted, 2 of 8 points, "
    )
    assert "    toy: slopes=0.5 stop_at=2\n" in first
    assert second.startswith("toy/limit=1+seed=3: complete, 8 of 8 points, ")
    assert "    response: " in second
    assert " ± 0.10\n" in second
    assert third.startswith("toy/limit=1: complete")


def test_a_list_is_cut_by_conditions_and_comes_as_json(three: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert runs(["outputs", "state=complete", "seed=3", "--json"]) == 0
    (only,) = json.loads(capsys.readouterr().out)
    assert (only["done"], only["points"], only["state"], only["differs"]) == (8, 8, "complete", {"limit": 1, "seed": 3})
    assert only["headlines"]["response"][1] == 0.1
    assert runs(["outputs", "seed=0", "state=complete", "--json"]) == 0
    (usual,) = json.loads(capsys.readouterr().out)
    assert usual["differs"] == {"limit": 1}, "an option that does not differ has its value, too"
    assert runs(["conf=other"]) == 0
    assert capsys.readouterr() == ("", "no runs\n")


def test_a_run_that_is_being_measured_is_told(three: None, capsys: pytest.CaptureFixture[str]) -> None:
    with locks.claimed(Path("outputs/toy/limit=1")):
        assert runs(["state=running"]) == 0
    assert "toy/limit=1: running, " in capsys.readouterr().out


@pytest.mark.parametrize("words", [["state=nonsense"], ["state="], ["seed=3", "state=Complete", "--json"]])
def test_a_state_that_no_run_can_have_is_refused_with_those_there_are(
    words: list[str], three: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert runs(words) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert "state must be one of complete, interrupted, running, got " in error
    assert error.count("\n") == 1


def test_a_condition_on_what_no_run_has_is_refused(three: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert runs(["sate=complete"]) == 2
    assert "sate must be state, conf, experiment or an option of one of these runs" in capsys.readouterr().err
    assert runs(["output=nowhere"]) == 0, "an option that is null"


@pytest.mark.parametrize("words", [["nowhere"], ["--jsn"]])
def test_what_cannot_be_listed_is_one_sentence(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert runs(words) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_run_is_listed_once(three: None, capsys: pytest.CaptureFixture[str]) -> None:
    told = []
    for words in (["outputs"], ["outputs", "outputs/toy", "./outputs"]):
        assert runs([*words, "--json"]) == 0
        told.append(len(json.loads(capsys.readouterr().out)))
    assert told[0] == told[1] > 1


def test_a_condition_is_given_once(three: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert runs(["outputs", "limit=1", "limit=2"]) == 2
    assert capsys.readouterr().err == "error: limit must be given once\n"


def test_a_headline_that_is_no_number_is_left_out(three: None, capsys: pytest.CaptureFixture[str]) -> None:
    path = Path("outputs/toy/limit=1/summary.json")
    path.write_text(json.dumps({"scalars": {"response": "high", "other": 2.0}}))
    assert runs(["outputs/toy/limit=1"]) == 0
    out = capsys.readouterr().out
    assert "other: 2" in out
    assert "response" not in out


@pytest.mark.parametrize("words", ["[1,8]", "1,8", "[1, 8.0]"])
def test_lists_may_be_spelled_as_the_command_was(tmp_path: Path, words: str) -> None:
    run: Any = SimpleNamespace(state="complete", conf="toy", experiment="toy", differs={"sizes": [1.0, 8.0]})
    assert is_selected(run, {"sizes": words})
    assert not is_selected(run, {"sizes": "[1,9]"})


@pytest.mark.parametrize(
    ("words", "same"), [("1", True), ("1.0", True), ("1e0", True), ("true", False), ("one", False)]
)
def test_numbers_may_be_spelled_as_the_command_was(words: str, same: bool) -> None:
    run: Any = SimpleNamespace(state="complete", conf="toy", experiment="toy", differs={"seed": 1, "dry": True})
    assert is_selected(run, {"seed": words}) == same
    assert not is_selected(run, {"dry": "1"})

"""The list of runs: what each was asked, how far it is, what it found."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

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
    assert only["estimates"][0]["stderr"] == 0.1
    assert runs(["outputs", "seed=0", "state=complete", "--json"]) == 0
    (usual,) = json.loads(capsys.readouterr().out)
    assert usual["differs"] == {"limit": 1}, "an option that does not differ has its value, too"
    assert runs(["conf=other"]) == 0
    assert capsys.readouterr() == ("", "no runs\n")

"""Searching options: words become suggestions, and two searchers share one study."""

import importlib.util
import json
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.fixture
def search(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(SCRIPTS)
    import search

    return search


@pytest.mark.skipif(not importlib.util.find_spec("optuna"), reason="optuna is not installed")
def test_a_search_goes_on_with_what_is_known(search, monkeypatch, tmp_path, capsys):
    """A command that costs nothing stands for the experiment; the best is at x = 2."""
    asked = []

    def run(command, **options):
        asked.append(command)
        words = dict(word.split("=", 1) for word in command[3:])
        Path(words["output"], "summary.json").write_text(
            json.dumps({"estimates": [{"quantity": "y", "value": -((float(words["x"]) - 2) ** 2), "headline": True}]})
        )

    monkeypatch.setattr(search.subprocess, "run", run)
    words = [str(tmp_path / "study.log"), "y", "conf=toy", "x=0.5..4.5", "--trials", "6", "--seed", "1"]
    assert search.main(words) == 0
    assert "best of 6 trials" in capsys.readouterr().out
    assert search.main(words) == 0
    printed = capsys.readouterr().out
    assert "best of 12 trials: y = -" in printed
    assert len(asked) == 12
    assert search.main([*words[:1], "z", *words[2:]]) == 2
    assert "SCALAR must be one of the 1 that the run ends with, such as y, got 'z'" in capsys.readouterr().err
    assert search.main([*words, "--minimise"]) == 2
    assert f"--minimise must be False as in the search that {words[0]} holds, got True" in capsys.readouterr().err
    assert search.main([*words, "samples=9"]) == 2
    assert "must be conf=toy as in the search that" in capsys.readouterr().err
    assert len(asked) == 13

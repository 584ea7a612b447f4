"""Drawing a run again from what it has saved, and the sentences for what cannot be drawn."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.plot import main as redraw


def test_a_figure_is_drawn_again_from_what_was_saved(
    command: Callable, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command("conf=toy", "output=out")
    names = [f"figure.{suffix}" for suffix in ("svg", "png", "pdf")]
    before = {name: (tmp_path / "out" / name).read_bytes() for name in names}
    for name in names:
        (tmp_path / "out" / name).unlink()
    assert redraw(["out"]) == 0
    assert capsys.readouterr().out == "figure: out/figure.svg\n"
    assert {name: (tmp_path / "out" / name).read_bytes() for name in names} == before


def test_a_summary_that_was_changed_after_its_run_is_made_anew(command: Callable, tmp_path: Path, capsys) -> None:
    assert command("conf=toy", "output=out").code == 0
    summary = tmp_path / "out" / "summary.json"
    before = json.loads(summary.read_text())
    summary.write_text(json.dumps(before | {"mean": 0.9}))
    assert redraw(["out"]) == 0
    assert "summary.json was changed after its run, and is made anew" in "".join(capsys.readouterr())
    assert json.loads(summary.read_text()) == before
    assert redraw(["out"]) == 0
    assert "was changed" not in "".join(capsys.readouterr())

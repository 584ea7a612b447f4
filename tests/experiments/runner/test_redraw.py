"""Drawing a run again from what it has saved, and the sentences for what cannot be drawn."""

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

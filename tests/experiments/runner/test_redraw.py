"""Drawing a run again from what it has saved, and the sentences for what cannot be drawn."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pandas
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


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda out: (out / "table.csv").unlink(), "must hold the results of a finished run, got no table.csv"),
        (
            lambda out: (out / "config.yaml").write_text("experiment: tyo"),
            "must be one of hopfield, or one whose folder is named (home=FOLDER draws with its code), got tyo",
        ),
        (lambda out: (out / "config.yaml").write_text(":\n- ]"), "config.yaml line 1 must be YAML, got: "),
        (lambda out: (out / "config.yaml").write_bytes(b"\xff\xfe"), "config.yaml line 1 must be text in UTF-8"),
        (lambda out: (out / "summary.json").write_text("{"), "cannot be drawn: its table or summary is damaged"),
        (
            lambda out: (out / "table.csv").write_text("a,b\n1,2\n"),
            "out cannot be drawn: table.csv must begin with its columns",
        ),
    ],
    ids=["no table", "unknown experiment", "no YAML", "binary", "cut summary", "other columns"],
)
def test_results_that_cannot_be_drawn_are_one_sentence(
    command: Callable, tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: Callable, sentence: str
) -> None:
    command("conf=toy", "limit=1", "output=out")
    damage(tmp_path / "out")
    assert redraw(["out"]) == 2
    err = capsys.readouterr().err
    assert sentence in err
    assert re.fullmatch(r"error: [^\n]+\n", err)
    assert redraw(["nowhere"]) == 2
    assert "nowhere must hold the results of a finished run" in capsys.readouterr().err


def test_a_directory_that_no_name_can_have_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert redraw(["x" * 5000]) == 2
    assert re.fullmatch(r"error: x+ must hold the results of a finished run, got no [^\n]+\n", capsys.readouterr().err)


@pytest.mark.slow
def test_a_table_that_was_changed_after_its_run_is_said_to_be(command: Callable, tmp_path: Path, capsys) -> None:
    assert command("conf=toy", "output=out").code == 0
    assert redraw(["out"]) == 0
    assert "was changed" not in "".join(capsys.readouterr())
    table = tmp_path / "out" / "table.csv"
    pandas.read_csv(table).assign(response=5.0).to_csv(table, index=False)
    assert redraw(["out"]) == 0
    assert "table.csv was changed after its run, and is drawn as it is now" in "".join(capsys.readouterr())
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["mean"] == 5.0


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


def test_a_table_without_its_first_line_is_told_as_such(command: Callable, tmp_path: Path, capsys) -> None:
    assert command("conf=toy", "output=out").code == 0
    table = tmp_path / "out" / "table.csv"
    table.write_text(table.read_text().partition("\n")[2])
    assert redraw(["out"]) == 2
    assert "out cannot be drawn: table.csv must begin with its columns" in capsys.readouterr().err


def test_a_damaged_table_among_several_is_told_as_such(command: Callable, tmp_path: Path, capsys) -> None:
    for name, noise in (("a", 0.0), ("b", 0.5)):
        assert command("conf=toy", f"noise={noise}", f"output={name}").code == 0
    lines = (tmp_path / "b/table.csv").read_text().splitlines()
    (tmp_path / "b/table.csv").write_text("\n".join([lines[0], *(line.replace("0", "x") for line in lines[1:])]))
    assert redraw(["a", "b", "output=joined"]) == 2
    assert "error: one of a, b cannot be drawn: its table or summary is damaged (" in capsys.readouterr().err

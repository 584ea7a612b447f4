"""A received folder is data: drawing, comparing and listing run nothing, resolve nothing, and wait for nothing."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.new import main as new
from experiments.plot import main as plot
from experiments.run import main as run

EVIL = "import pathlib\npathlib.Path(__file__).with_name('ran').touch()\ndef m(patterns, *, mask=None): return None\n"
SMALL = ["samples=1", "neurons=[20]", "loads=[0.1,0.4]", "wandb.mode=disabled", "figure.format=[svg]"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_MODE", "disabled")
    return tmp_path


@pytest.mark.slow
def test_a_memory_of_ones_own_is_drawn_the_same_where_its_code_is_gone(place: Path) -> None:
    assert new(["memory", "cub$c".replace("$", "i")]) == 0
    Path("cubic.py").rename("cub$c.py")  # a dollar begins a formula in Matplotlib
    assert run(["conf=capacity", "memories=[./cub$c.py:cubic]", "output=out", *SMALL]) == 0
    before = {name: (place / "out" / name).read_bytes() for name in ("figure.svg", "summary.json", "report.html")}
    assert json.loads(before["summary.json"])["memories"]["./cub$c.py:cubic"]
    Path("cub$c.py").write_text(EVIL)
    assert plot(["out"]) == 0
    assert {name: (place / "out" / name).read_bytes() for name in before} == before
    table = place / "out/table.csv"
    table.write_text(table.read_text().replace("./cub$c.py:cubic", f"{place}/cub$c.py:m"))
    assert plot(["out"]) == 2, "a name in a table"
    assert not (place / "ran").exists()


def test_nothing_in_a_configuration_is_resolved(command: Callable, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("SECRET", "hunter2")
    assert command("conf=toy", "limit=1", "output=out").code == 0
    config = tmp_path / "out/config.yaml"
    config.write_text(config.read_text().replace("style: null", "style: ${oc.env:SECRET}.mplstyle"))
    assert plot(["out"]) == 2
    assert "hunter2" not in "".join(capsys.readouterr())

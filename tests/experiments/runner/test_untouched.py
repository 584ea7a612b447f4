"""Nothing of the user's is overwritten, and nothing half made is left."""

from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.plot import main as plot


@pytest.mark.slow
@pytest.mark.parametrize("name", ["table.csv", "report.html", "figure.pdf"])
def test_files_that_no_run_wrote_are_left(command: Callable, tmp_path: Path, name: str, capsys) -> None:
    assert command("conf=toy", "limit=1", "output=a").code == 0
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / name).write_text("precious")
    outcome = command("conf=toy", "limit=1", "output=mine")
    assert outcome.code == 2
    assert f"output must leave the files of others, got {tmp_path}/mine, whose {name} no run has written" in outcome.err
    assert command("conf=toy", "limit=1", "-m", "seed=0,1", "output=mine").code == 2
    assert plot(["a", "output=mine"]) == 2
    assert [path.name for path in (tmp_path / "mine").iterdir()] == [name]
    assert (tmp_path / "mine" / name).read_text() == "precious"
    assert command("conf=toy", "limit=1", "output=a").code == 0, "its own are no others'"
    assert plot(["a", "output=b"]) == 0
    assert plot(["a", "output=b"]) == 0

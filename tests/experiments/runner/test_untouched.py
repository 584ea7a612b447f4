"""Nothing of the user's is overwritten, and nothing half made is left."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.new import main as new
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


def test_new_writes_through_no_link_and_leaves_nothing_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cubic.py").symlink_to("elsewhere.py")
    assert new(["memory", "cubic"]) == 2
    (tmp_path / "cubic.py").unlink()

    def full(*arguments: object, **options: object) -> None:
        Path(str(arguments[0])).touch()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(arguments[0]))

    for words in (["memory", "cubic"], ["experiment", "mine"]):
        with monkeypatch.context() as disk:
            disk.setattr(Path, "write_text", full)
            assert new(words) == 1
        assert list(tmp_path.iterdir()) == []
        assert new(words) == 0
        for path in tmp_path.iterdir():
            path.rename(tmp_path.parent / f"{tmp_path.name}-{path.name}")

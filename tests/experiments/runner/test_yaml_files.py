"""User-defined configuration files: they work without a magic line, and a mistake in one is given with its line."""

from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.run import main


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable:
    """The command in an empty folder, with choices from a folder that holds one file."""
    monkeypatch.setenv("WANDB_MODE", "disabled")
    (tmp_path / "own/conf").mkdir(parents=True)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")

    def command(*words: str) -> tuple[int, str, str]:
        code = main(["--config-dir", str(tmp_path / "own"), *words])
        assert list((tmp_path / "work").iterdir()) == []
        out, err = capsys.readouterr()
        return code, out, err

    return command


def test_overrides_of_defaults_stand_after_the_files_own_values(run: Callable, tmp_path: Path) -> None:
    # Where Hydra wants them; they silence nothing.
    text = "defaults: [/schema/worked_examples, _self_, {override /hydra/launcher: basic}]\n"
    (tmp_path / "own/conf/mine.yaml").write_text(text)
    assert run("conf=mine", "dry=true")[0] == 0

"""What `hopfield new` begins: each kind runs by its printed commands, and keeps the contract of its part."""

import shlex
from pathlib import Path

import pytest

from experiments import new
from experiments.run import main as run

SMALL = {
    "conf=capacity": ("samples=1", "queries=2", "neurons=[10]"),
    "conf=capacity_images": ("samples=1", "queries=2", "patterns=[5]"),
    "conf=training": ("seeds=1", "epochs=1", "width=4", "baselines=false"),
    "conf=./own_part": ("samples=1", "neurons=[20]"),
}
"""Options of small runs by experiment, in place of those of the printed commands."""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_MODE", "disabled")
    return tmp_path


def smaller(words: list[str]) -> list[str]:
    return list({word.partition("=")[0]: word for word in (*words, *SMALL[words[0]])}.values())


@pytest.mark.slow
@pytest.mark.parametrize("kind", new.KINDS)
def test_every_kind_runs_by_the_commands_that_are_printed(
    kind: str, mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert new.main([kind, "own_part"]) == 0
    target, _, commands = capsys.readouterr().out.partition(": ")
    assert (mine / target).exists()
    for command in commands.splitlines():
        match shlex.split(command):
            case ["hopfield", *words]:
                assert run(smaller(words)) == 0
            case other:
                pytest.fail(f"nothing runs {other}")

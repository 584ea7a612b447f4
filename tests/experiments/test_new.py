"""Files that `hopfield new` begins: each kind runs by its printed commands, and keeps the contract of its part."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from experiments import contract, new
from experiments.run import main as run

SMALL = {
    "conf=capacity": ("samples=1", "queries=2", "neurons=[10]"),
    "conf=capacity_images": ("samples=1", "queries=2", "patterns=[5]"),
    "conf=training": ("seeds=1", "epochs=1", "width=4", "baselines=false"),
    "conf=./own_part": ("samples=1", "neurons=[20]"),
}
"""Options of small runs by experiment, for the printed commands' own."""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_MODE", "disabled")
    return tmp_path


def smaller(words: list[str]) -> list[str]:
    return list({word.partition("=")[0]: word for word in (*words, *SMALL[words[0]])}.values())


@pytest.mark.parametrize("kind", new.KINDS)
@pytest.mark.parametrize("name", ["q", "zz_" + "a" * (new.LONGEST - 3)])
def test_what_is_begun_passes_the_lint_in_a_checkout_and_outside(kind: str, name: str, mine: Path) -> None:
    assert new.main([kind, name]) == 0
    ruff, root = shutil.which("ruff", path=Path(sys.executable).parent) or "ruff", contract.ROOT
    for path in mine.rglob("*.py"):
        text, place = path.read_text(encoding="utf-8"), str(root / path.relative_to(mine))
        for words, where in (
            (["check"], place),
            (["format", "--check"], place),
            (["check", "--isolated", "--select=E4,E7,E9,F,I"], str(path)),
        ):
            given = [ruff, *words, "--no-cache", "--stdin-filename", where, "-"]
            assert subprocess.run(given, cwd=root, input=text, text=True, capture_output=True).returncode == 0, where


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

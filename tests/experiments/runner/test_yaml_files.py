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


WRONG_KINDS = {
    "memories: classical": "memories must be a list of strings, got classical; did you mean memories=[classical]?",
    "memories: {a: 1}": "memories must be a list of strings, got {'a': 1}",
    "memories: null": "memories must be a list of strings, got null",
    "memories: ${seed}": "memories must be a list of strings, got 0",
    "neurons: 64": "neurons must be a list of integers or null, got 64; did you mean neurons=[64]?",
    "neurons: [x]": "neurons[0] must be an integer, got x",
    "seed: [3]": "seed must be an integer, got [3]",
    "seed: {a: 3}": "seed must be an integer, got {'a': 3}",
    "seed: x": "seed must be an integer, got x",
    "clamp: [true]": "clamp must be true or false, got [True]",
    "parity: [odd]": "parity must be one of odd, even, any or null, got ['odd']",
    "output: {a: b}": "output must be a string or null, got {'a': 'b'}",
    "per_memory: 3": "per_memory must be a mapping, got 3",
    "per_memory: [3]": "per_memory must be a mapping, got [3]",
    "per_memory: null": "per_memory must be a mapping, got null",
    "per_memory: {modern: {loads: 0.1}}": "per_memory.modern.loads must be a list of numbers or null, got 0.1; "
    "did you mean per_memory.modern.loads=[0.1]?",
    "wandb: [3]": "wandb must be a group of options (mode, project, entity, group, name, tags, init_timeout, "
    "finish_timeout), got [3]",
    "wandb: {tags: a}": "wandb.tags must be a list of strings, got a; did you mean wandb.tags=[a]?",
}


@pytest.mark.parametrize("line", WRONG_KINDS)
def test_a_value_of_another_kind_is_told_alike_in_file_and_word(run: Callable, tmp_path: Path, line: str) -> None:
    path, head = tmp_path / "own/conf/mine.yaml", "defaults: [/schema/capacity, _self_]\n"
    path.write_text(head)
    assert run("conf=mine", line.replace(": ", "=", 1).replace(": ", ":"))[2] == f"error: {WRONG_KINDS[line]}\n"
    path.write_text(f"{head}{line}\n")
    code, out, err = run("conf=mine")
    assert (code, out, err) == (2, "", f"error: {WRONG_KINDS[line]} ({path} line 2)\n")


def test_overrides_of_defaults_stand_after_the_files_own_values(run: Callable, tmp_path: Path) -> None:
    # Where Hydra wants them; they silence nothing.
    text = "defaults: [/schema/worked_examples, _self_, {override /hydra/launcher: basic}]\n"
    (tmp_path / "own/conf/mine.yaml").write_text(text)
    assert run("conf=mine", "dry=true")[0] == 0

"""A sample of bad command lines and damaged files, in process: one sentence each, or legal; nothing left behind."""

import importlib
import os

import pytest

from tests.experiments import bad_lines
from tests.experiments.damaged_files import Line, write_damaged_files

SEED = 7


@pytest.fixture
def fault(tmp_path, monkeypatch, capsys):
    """Fault of how a line ends; empty if there is none."""
    for name in ("work", "temporary", "files"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("WANDB_MODE", "disabled")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))

    def judged(line) -> str:
        module = importlib.import_module(line.module)
        code = module.main([*line.words, *(["dry=true"] if line.module == "experiments.run" else [])])
        out, err = capsys.readouterr()
        wrong = bad_lines.fault_of(line, code, out, err, [*os.listdir(), *os.listdir(tmp_path / "temporary")])
        return f"{' '.join(line.words)[:200]}: {wrong}: {err[-300:]}" if wrong else ""

    return judged


@pytest.mark.process
def test_a_sample_of_bad_lines_is_refused_or_legal(fault):
    sample = bad_lines.lines(20, SEED)
    assert len({line.words[0] for line in sample}) > 10
    assert [text for line in sample if (text := fault(line))] == []


@pytest.mark.process
def test_damaged_files_are_refused_or_legal(fault, tmp_path):
    lines = write_damaged_files(tmp_path / "files")
    assert len(lines) >= 40
    assert [text for line in lines if (text := fault(line))] == []


def test_the_judge_knows_what_is_wrong():
    line = Line("experiments.run", ("conf=toy", "seed=-1"), ("seed", "-1"))
    good = "error: seed must be at least 0, got -1\n"
    assert bad_lines.fault_of(line, 2, "", good, []) == ""
    assert bad_lines.fault_of(line, 0, "toy: 3 points; ...\n", "", []) == ""
    for outcome in (
        (2, "", good, ["outputs"]),
        (2, "", "Traceback (most recent call last):\n", []),
        (2, "", good * 2, []),
        (2, "", "error: no\n", []),
        (1, "", good, []),
        (0, "", "", []),
    ):
        assert bad_lines.fault_of(line, *outcome)

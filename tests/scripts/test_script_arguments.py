"""Arguments of the scripts: a mistake is one sentence, and nothing is begun."""

import re
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.mark.parametrize(
    ("script", "line", "said"),
    [
        ("search", "", "the following arguments are required: study, scalar, words"),
        ("search", "study y word", "word must be written key=value"),
        ("search", "nowhere/study y x=1", "STUDY must lie in an existing folder"),
        ("search", ". y x=1", "STUDY must be a file"),
        ("search", "study y x=1 --trials 0", "must be an integer from 1 to 2^31, got 0"),
        ("search", "study y x=a..2", "must have numbers around"),
        ("search", "study y x=0..2/log", "must have a range above zero for /log"),
        ("reproduce", "nothing", "NAME must be one of"),
        ("reproduce", "gradients --set dry=true", "--set must leave conf, output, dry as a published run has them"),
        ("reproduce", "--figures file", "--figures must be a folder, got file"),
    ],
)
def test_a_mistake_is_one_sentence(monkeypatch, tmp_path, capsys, script, line, said):
    monkeypatch.syspath_prepend(SCRIPTS)
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("precious")
    assert __import__(script).main(line.split()) == 2
    err = capsys.readouterr().err
    assert said in err
    assert re.fullmatch(r"error: [^\n]+\n", err)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]

"""Files of user-defined parts: rows are those of a file as it is, and do not stand beside those of another."""

from pathlib import Path

import pytest

from experiments.run import main as run

LAYER = """
from flax import nnx

class Scaled(nnx.Module):
    def __init__(self, attention):
        self.inner = attention

    def __call__(self, x):
        return 0.5 * self.inner(x)

def part(attention, *, rngs):
    return Scaled(attention)
"""
OPTIMISER = """
import optax

def part(learning_rate=0.5):
    return optax.sgd(0.1 * learning_rate)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "text"), [("layers", LAYER), ("optimisers", OPTIMISER)], ids=["layers", "optimisers"]
)
def test_rows_are_those_of_the_file_as_it_is_and_none_stand_beside_those_of_another(
    option: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_MODE", "disabled")
    words = ["conf=training", "tasks=[wine]", f"{option}=[./mine.py:part]", "learning_rate=[0.03]", "epochs=1"]
    words += ["width=4", "members=1", "baselines=false"]
    (tmp_path / "mine.py").write_text(text)
    assert run([*words, "seeds=1", "output=first"]) == 0
    (tmp_path / "mine.py").write_text(text.replace("0.5 *", "0.25 *").replace("0.1 *", "0.3 *"))
    capsys.readouterr()
    for seeds in (1, 2):
        assert run([*words, f"seeds={seeds}", "output=first"]) == 2
        assert capsys.readouterr().err.startswith("error: contents of ./mine.py:part must be those of hash ")
    assert run([*words, "seeds=1", "output=second"]) == 0
    first, second = (Path(name, "table.csv").read_text() for name in ("first", "second"))
    assert first != second

"""Objects from outside the package: found in files and modules, and refused in one sentence."""

from pathlib import Path

import jax
import numpy as np
import pytest

import hopfield.memories
from hopfield import separations
from hopfield.patterns import corrupt, corruption, datasets

CODE = """
import jax.numpy as jnp
import numpy as np
from hopfield import separations
half = separations.find("polynomial:4")
def power(degree=2): return separations.find(f"polynomial:{int(degree)}")
def roll(key, state, amount): return jnp.roll(state, jnp.int32(amount))
def data(): return np.arange(12.0).reshape(3, 4)
def strange(patterns): return patterns.no_such_thing
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(CODE)
    return tmp_path


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("./nowhere.py:x", "./nowhere.py must be a readable Python file"),
        ("./mine.py:x", "which defines data, half, jnp"),
        ("./mine.py:strange", "memory must be code that runs, got AttributeError"),
        ("no.such.package:x", "no.such.package:x must be code that runs, got ModuleNotFoundError"),
        ("nothing", "memory must be one of classical, .*, got 'nothing'"),
    ],
)
def test_what_is_no_memory_is_one_sentence(mine: Path, spec: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        hopfield.memories.find(spec)


def test_corruptions_and_separations_of_ones_own_are_read(mine: Path) -> None:
    found = corruption("./mine.py:roll:2")
    assert (found.kind, found.amount) == ("./mine.py:roll", 2.0)
    state = np.array([1.0, -1.0, -1.0, 1.0])
    rolled = corrupt(jax.random.key(0), state, found.kind, found.amount)
    np.testing.assert_array_equal(rolled.state, np.roll(state, 2))
    assert separations.find("./mine.py:half") == separations.find("polynomial:4")
    assert separations.find("./mine.py:power:3") == separations.find("polynomial:3")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1,2\n3\n", "as many numbers in every line, got 1 in row 2 of 'x.csv' after 2"),
        ("1,2\n3,four\n", "numbers alone, got text in row 2"),
        ("", "shape"),
        ("1,nan\n", "finite"),
    ],
)
def test_a_csv_file_with_a_mistake_is_one_sentence(mine: Path, text: str, sentence: str) -> None:
    (mine / "x.csv").write_text(text)
    with pytest.raises(ValueError, match=sentence):
        datasets.from_file("x.csv")

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
from hopfield import Memory, separations
half = separations.find("polynomial:4")
def power(degree=2): return separations.find(f"polynomial:{int(degree)}")
def roll(key, state, amount): return jnp.roll(state, jnp.int32(amount))
def data(): return np.arange(12.0).reshape(3, 4)
def talks(degree=2): raise ValueError("y" * 5000)
def strange(patterns): return patterns.no_such_thing
def bare(patterns): return Memory(patterns)
def deaf(patterns, *, mask=None): return Memory(patterns)
def lost(key, state, amount): return state * jnp.nan
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(CODE)
    return tmp_path


def test_a_memory_is_read_again_when_its_file_has_changed(mine: Path) -> None:
    code = "from hopfield import Memory\ndef net(x, *, mask=None): return Memory(x, {}, mask=mask)\n"
    for beta in (1.0, 2.25):
        (mine / "net.py").write_text(code.format(beta))
        assert hopfield.memories.find("./net.py:net").build(np.eye(3)).beta == beta


def test_corruptions_and_separations_of_ones_own_are_read(mine: Path) -> None:
    found = corruption("./mine.py:roll:2")
    assert (found.kind, found.amount) == ("./mine.py:roll", 2.0)
    state = np.array([1.0, -1.0, -1.0, 1.0])
    rolled = corrupt(jax.random.key(0), state, found.kind, found.amount)
    np.testing.assert_array_equal(rolled.state, np.roll(state, 2))
    in_one = jax.vmap(lambda state: corrupt(jax.random.key(0), state, "./mine.py:roll:2"))(state[None])
    np.testing.assert_array_equal(in_one.state[0], np.roll(state, 2))
    with pytest.raises(ValueError, match=r"^amount must be left out beside the one in the kind '\./mine\.py:roll:2'"):
        corrupt(jax.random.key(0), state, "./mine.py:roll:2", 2.0)
    assert separations.find("./mine.py:half") == separations.find("polynomial:4")
    assert separations.find("./mine.py:power:3") == separations.find("polynomial:3")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1,2\n3\n", "2 numbers in every line, got 1 in row 1 of 'x.csv'"),
        ("1,2\n3,four\n", "numbers alone, got text in row 1"),
        ("", "shape"),
        ("1,nan\n", "finite"),
    ],
)
def test_a_csv_file_with_a_mistake_is_one_sentence(mine: Path, text: str, sentence: str) -> None:
    (mine / "x.csv").write_text(text)
    with pytest.raises(ValueError, match=sentence):
        datasets.from_file("x.csv")

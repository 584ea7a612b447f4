"""Parts of a memory by name: each name builds what it says, every other text is one sentence with all names."""

# pyright: reportArgumentType=false
# Arguments are of the wrong type on purpose.

import re

import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import Memory, separations, similarities, spaces
from tests.hopfield.contracts.parts import SEPARATIONS, SIMILARITIES, SPACES

PATTERNS = jnp.asarray(np.random.default_rng(3).normal(size=(4, 3)))
MODULES = {"similarity": similarities, "separation": separations, "space": spaces}

UNNAMED = {"Bilinear", "SteepEntmax"}
"""Classes that need more than a number, a metric, or whose name is another's: "entmax:2.5" is a steep one."""

each_kind = pytest.mark.parametrize("what", MODULES)


@pytest.mark.parametrize(
    ("what", "name", "expected"),
    [
        ("similarity", "dot", similarities.Dot()),
        ("similarity", "squared_distance", similarities.SquaredDistance()),
        ("similarity", "cosine", similarities.Cosine()),
        ("similarity", "manhattan", similarities.Manhattan()),
        ("separation", "entmax:1.5", separations.Entmax(1.5)),
        ("space", "euclidean", spaces.Euclidean()),
        ("space", "sphere", spaces.Sphere(1.0)),
        ("space", "sphere:20", spaces.Sphere(20.0)),
        ("space", "box:0.5", spaces.Box(0.5)),
    ],
)
def test_a_memory_of_names_is_that_of_the_objects(what, name, expected):
    assert MODULES[what].find(name) == expected
    assert getattr(Memory(PATTERNS, **{what: name}), what) == expected
    assert Memory(PATTERNS, **{what: name}) == Memory(PATTERNS, **{what: expected})


@pytest.mark.parametrize(
    ("what", "known"), [("similarity", SIMILARITIES), ("separation", SEPARATIONS), ("space", SPACES)]
)
def test_every_part_of_the_library_has_a_name(what, known):
    named = {type(entry.build()).__name__ for entry in MODULES[what].NAMES.values()}
    assert {type(part).__name__ for part in known.values()} - named <= UNNAMED


@each_kind
def test_an_unknown_name_is_told_all_names_and_the_nearest(what):
    names = list(MODULES[what].NAMES)
    typo = names[0][:-1]
    known = re.escape(", ".join(names))
    with pytest.raises(ValueError, match=rf"^{what} must be one of {known}, got '{typo}'; did you mean {names[0]}\?"):
        Memory(PATTERNS, **{what: typo})
    with pytest.raises(ValueError, match=rf"^{what} must be one of {known}, got 'zzzz'"):
        MODULES[what].find("zzzz")


def test_parts_of_ones_own_are_found_by_their_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = (
        "from hopfield import similarities, spaces\nwide = lambda r=2: spaces.Sphere(r)\nnear = similarities.Cosine\n"
    )
    (tmp_path / "mine.py").write_text(code)
    memory = Memory(PATTERNS, similarity="./mine.py:near", space="./mine.py:wide:3")
    assert memory == Memory(PATTERNS, similarity="cosine", space="sphere:3")
    with pytest.raises(ValueError, match=r"^space must be a Space or return one, got Cosine from"):
        spaces.find("./mine.py:near")

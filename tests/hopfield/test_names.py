"""Parts of a memory by name: each name builds what it says, every other text is one sentence with all names."""

# pyright: reportArgumentType=false
# Arguments are of the wrong type on purpose.

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from hopfield import Memory, attention, fisher, graphs, layers, optim, patterns, separations, similarities, spaces
from hopfield.layers.learned_positions import as_positions
from tests.hopfield.contracts.parts import SEPARATIONS, SIMILARITIES, SPACES

PATTERNS = jnp.asarray(np.random.default_rng(3).normal(size=(4, 3)))
MODULES = {"similarity": similarities, "separation": separations, "space": spaces}
CHECKED = {
    "similarity": similarities.as_similarity,
    "separation": separations.as_separation,
    "space": spaces.as_space,
}
UNNAMED = {"Bilinear"}
"""Classes that need more than a number: a metric."""

UNITS = {"seen": graphs.Layer((1,)), "hidden": graphs.Layer((1,))}
BIAS = graphs.Bias(jnp.ones(1))
GRAPH = graphs.Graph.create(UNITS, [("seen", BIAS)])

each_kind = pytest.mark.parametrize("what", MODULES)


@pytest.mark.parametrize(
    ("what", "name", "expected"),
    [
        ("similarity", "dot", similarities.Dot()),
        ("similarity", "squared_distance", similarities.SquaredDistance()),
        ("similarity", "cosine", similarities.Cosine()),
        ("similarity", "manhattan", similarities.Manhattan()),
        ("separation", "entmax:1.5", separations.entmax(1.5)),
        ("space", "euclidean", spaces.Euclidean()),
        ("space", "sphere", spaces.sphere(1.0)),
        ("space", "sphere:20", spaces.sphere(20.0)),
        ("space", "box:0.5", spaces.box(0.5)),
    ],
)
def test_a_memory_of_names_is_that_of_the_objects(what, name, expected):
    assert MODULES[what].find(name) == expected
    assert getattr(Memory.create(PATTERNS, **{what: name}), what) == expected
    assert Memory.create(PATTERNS, **{what: name}) == Memory.create(PATTERNS, **{what: expected})


def test_spaces_of_some_memories_only_have_names():
    assert Memory.create(jnp.ones((2, 3)), space="spins").space == spaces.Spins()
    free = Memory.create(PATTERNS, similarity="squared_distance", space="unconfined")
    assert free.space == spaces.Euclidean(confined=False)


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
        Memory.create(PATTERNS, **{what: typo})
    with pytest.raises(ValueError, match=rf"^{what} must be one of {known}, got 'zzzz'"):
        MODULES[what].find("zzzz")


TYPOS = {
    "likelihood": (lambda: fisher.as_likelihood("categorial"), "; did you mean categorical?"),
    "manifold": (lambda: optim.riemannian_gradient_descent(0.1, "steifel"), "; did you mean stiefel?"),
    "metric": (lambda: layers.learned_metric("diagnal", 4, rngs=nnx.Rngs(0)), "; did you mean diagonal?"),
    "positions": (lambda: as_positions("rotery", 2, 8, jnp.float32), "; did you mean rotary?"),
    "kind": (lambda: patterns.corrupt(jax.random.key(0), jnp.ones(5), "flp", 0.1), "; did you mean flip?"),
    "corruption": (lambda: patterns.corruption("flp:0.1"), "; did you mean flip:0.1?"),
    "connection": (lambda: graphs.Graph.create(UNITS, [("hiden", BIAS)]), "; did you mean hidden?"),
    "clamped layer": (
        lambda: graphs.descend(GRAPH, GRAPH.zeros(), 1, clamped={"hiden": jnp.ones(1)}),
        "; did you mean hidden?",
    ),
}


@pytest.mark.parametrize("what", TYPOS)
def test_every_look_up_by_name_tells_the_nearest(what):
    call, hint = TYPOS[what]
    with pytest.raises(ValueError, match=re.escape(hint) + "$"):
        call()


def test_no_name_is_suggested_for_what_is_near_none():
    with pytest.raises(ValueError, match=r"got 'zzzz'$"):
        fisher.as_likelihood("zzzz")
    with pytest.raises(ValueError, match=r"got 'flip:wide'$"):
        patterns.corruption("flip:wide")


def test_a_name_that_is_right_is_no_hint():
    with pytest.raises(ValueError, match=r"got 'rotary:3'$"):
        as_positions("rotary:3", 2, 8, jnp.float32)


def test_a_part_is_told_how_it_is_written():
    with pytest.raises(TypeError, match=r"got the class LogSumExp \(write LogSumExp\(\)\)$"):
        Memory.create(PATTERNS, separation=separations.LogSumExp)
    for similarity in ("bilinear", np.eye(3)):
        with pytest.raises(TypeError, match=r"similarity must be bilinear\(g\) for a metric or a matrix g, got "):
            Memory.create(PATTERNS, similarity=similarity)
    with pytest.raises(ValueError, match="metric must be a Metric or a matrix, got 'diagonal', a name"):
        attention.attend(PATTERNS, PATTERNS, PATTERNS, metric="diagonal")
    with pytest.raises(ValueError, match="metric must have axes"):
        attention.attend(PATTERNS, PATTERNS, PATTERNS, metric=3)


@each_kind
def test_what_is_no_part_is_told_what_is(what):
    known = re.escape(", ".join(MODULES[what].NAMES))
    for wrong in (3, None, Memory):
        with pytest.raises(TypeError, match=rf"^{what} must be a {what.capitalize()} or one of {known}, got "):
            CHECKED[what](wrong)


@pytest.mark.parametrize(
    ("find", "spec", "sentence"),
    [
        (similarities.find, "cosine:2", "similarity must be cosine without a number, got 'cosine:2'"),
        (spaces.find, "spins:2", "space must be spins without a number, got 'spins:2'"),
        (spaces.find, "sphere:wide", "space must give sphere a number after the colon, got 'sphere:wide'"),
        (spaces.find, "sphere:-1", "radius must be a positive finite number, got -1.0"),
        (spaces.find, "box:0", "temperature must be a positive finite number, got 0.0"),
    ],
)
def test_numbers_after_a_name_are_checked(find, spec, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
        find(spec)


def test_parts_of_ones_own_are_found_by_their_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = (
        "from hopfield import similarities, spaces\nwide = lambda r=2: spaces.sphere(r)\nnear = similarities.Cosine\n"
    )
    (tmp_path / "mine.py").write_text(code)
    memory = Memory.create(PATTERNS, similarity="./mine.py:near", space="./mine.py:wide:3")
    assert memory == Memory.create(PATTERNS, similarity="cosine", space="sphere:3")
    with pytest.raises(ValueError, match=r"^space must be a Space or return one, got Cosine from"):
        spaces.find("./mine.py:near")

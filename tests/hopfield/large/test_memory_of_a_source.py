"""A memory of a source answers like the memory of its rows, verb by verb, whatever holds them."""

import jax
import numpy as np
import pytest

from hopfield import Memory, fixed_point, memories, retrieve, separations
from hopfield.large import _running, reading
from hopfield.patterns.sources import Generated, Mapped, Packed, Source, Stored
from hopfield.similarities import Bilinear, Cosine, SquaredDistance
from hopfield.spaces import Euclidean, Sphere, Spins

M, N, Q = 70, 7, 3
RNG = np.random.default_rng(4)
ROWS, SPINS = RNG.normal(size=(M, N)), RNG.choice([-1.0, 1.0], size=(M, N))
QUERIES = ROWS[:Q] + 0.3 * RNG.normal(size=(Q, N))
STATES = SPINS[:Q] * np.where(RNG.random((Q, N)) < 0.2, -1.0, 1.0)
CHOICES = {
    "modern": {},
    "sparsemax": {"separation": "sparsemax"},
    "metric": {"similarity": Bilinear(RNG.normal(size=(N, N)))},
    "distance": {"similarity": SquaredDistance(), "separation": "epanechnikov", "space": Euclidean(confined=False)},
    "cosine": {"similarity": Cosine()},
    "sphere": {"separation": "exponential", "space": Sphere(2.0)},
    "values": {"values": RNG.normal(size=(M, 2))},
}
ON_SPINS = {
    "log_sum_exp": {},
    "exponential": {"separation": "exponential"},
    "dense": {"separation": separations.Polynomial(3)},
    "classical": {"separation": "linear"},
    "rectified": {"separation": separations.Polynomial(3, rectified=True)},
}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of 16 patterns, the last one shorter."""
    for module in (reading, _running):
        monkeypatch.setattr(module, "block_size", lambda queries: 16)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.npy"
    np.save(path, ROWS)
    return path


def answers(memory, queries):
    """Every verb of every query."""

    def one(x):
        return memory.read(x), memory.update(x), memory.energy(x), memory.shares(x), memory.statistics(x, 1, top=3)

    return jax.vmap(one)(queries)


@pytest.mark.slow
@pytest.mark.parametrize("name", CHOICES)
def test_every_verb_of_stored_rows_is_that_of_the_array(name):
    found, same = (answers(Memory(rows, 0.7, **CHOICES[name]), QUERIES) for rows in (Stored(ROWS), ROWS))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11), found, same)


@pytest.mark.parametrize("name", ["modern", "distance"])
def test_a_file_answers_like_its_rows(file, name, monkeypatch):
    monkeypatch.setattr(_running, "PART", 20 * N)
    memory = Memory(np.load(file, mmap_mode="r"), 0.7, **CHOICES[name])
    assert isinstance(memory.patterns, Mapped)
    same = answers(Memory(ROWS, 0.7, **CHOICES[name]), QUERIES)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11), answers(memory, QUERIES), same)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *(("packed", name) for name in ON_SPINS),
        ("stored", "log_sum_exp"),
        *(pytest.param("stored", name, marks=pytest.mark.exhaustive) for name in ON_SPINS if name != "log_sum_exp"),
    ],
)
def test_spins_of_a_source_update_like_those_of_the_array(kind, name):
    source: Source = Packed(SPINS) if kind == "packed" else Stored(SPINS)
    here, there = (Memory(rows, 0.4, space=Spins(), **ON_SPINS[name]) for rows in (source, SPINS))
    for verb in ("local_field", "update", "energy"):
        found, same = (jax.jit(jax.vmap(getattr(memory, verb)))(STATES) for memory in (here, there))
        np.testing.assert_allclose(found, same, rtol=1e-9, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["exponential", "dense:3", "classical", "modern", "epanechnikov"])
def test_named_memories_are_built_of_sources_and_retrieve(name):
    """Drawn spins: one query through `retrieve`, its state, its steps and its energy."""
    source = Generated(jax.random.key(2), "spins", 40, 20)
    rows = np.asarray(source.rows(0, 40))
    query = rows[3] * np.where(np.arange(20) < 2, -1.0, 1.0)
    found, same = (retrieve(memories.find(name).build(patterns), query) for patterns in (source, rows))
    np.testing.assert_array_equal(found.status, same.status)
    np.testing.assert_array_equal(found.steps, same.steps)
    np.testing.assert_allclose(found.state, same.state, atol=1e-9)
    np.testing.assert_allclose(found.energy, same.energy, rtol=1e-9)


@pytest.mark.slow
def test_a_fixed_point_over_a_source_is_differentiable():
    def reached(beta, rows):
        return fixed_point(Memory(rows, beta), QUERIES[0])

    found, same = (jax.jacobian(lambda b, rows=rows: reached(b, rows))(0.3) for rows in (Stored(ROWS), ROWS))
    assert np.max(np.abs(same)) > 1e-3
    np.testing.assert_allclose(found, same, rtol=1e-5, atol=1e-9)

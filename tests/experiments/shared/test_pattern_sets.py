"""Real patterns: what each source gives to memories of spins and of real states, and all models running on them."""

import jax
import numpy as np
import pytest

from experiments.shared import draws, pattern_sets
from hopfield import Memory
from hopfield.memories import find, names
from tests.experiments.capacity.tables import COLUMNS, COUNTS, measured_table

pytestmark = pytest.mark.usefixtures("as_run")

SIDE, IMAGES = 4, 12
MASKED = {"patterns": [12], "samples": 3, "queries": 6, "max_steps": 5, "corruption": ["lower:0.25"]}


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    """A user's file of tiny images, whose upper half carries nearly all of the contrast."""
    rng = np.random.default_rng(5)
    array = rng.normal(size=(IMAGES, SIDE, SIDE)) * np.array([3.0, 3.0, 0.3, 0.3])[None, :, None]
    path = tmp_path_factory.mktemp("user") / "images.npy"
    np.save(path, array)
    return str(path)


@pytest.fixture
def quickly():
    """Programs compiled in half the time and run slowly, for what is about the experiment and not about its speed."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


@pytest.mark.parametrize(
    ("ensemble", "count", "width"), [("digits", 1797, 64), ("photographs", 2000, 64), ("file", IMAGES, 16)]
)
def test_a_source_gives_spins_or_real_patterns_of_their_norm(images, ensemble, count, width):
    ensemble = images if ensemble == "file" else ensemble
    spins, real = (np.asarray(pattern_sets.load(ensemble, kind)) for kind in (True, False))
    assert spins.shape == real.shape == pattern_sets.shape(ensemble) == (count, width)
    assert set(np.unique(spins)) == {-1.0, 1.0}
    np.testing.assert_allclose(np.linalg.norm(real, axis=1), width**0.5, rtol=1e-5)
    np.testing.assert_allclose(real.mean(axis=1), 0, atol=1e-5)
    if ensemble != "digits":  # their pixels are thresholded at one half of full ink
        brighter = real >= np.median(real, axis=1, keepdims=True)
        assert (spins == np.where(brighter, 1, -1)).all()
    assert np.mean(np.sign(real) == spins) > 0.7


def test_a_draw_is_distinct_rows_in_random_order(images):
    data = pattern_sets.load(images, False)
    key = jax.random.key(3)
    all_rows, few = draws.patterns("spins", key, IMAGES, 16, data), draws.patterns("spins", key, 5, 16, data)
    assert {tuple(row) for row in np.asarray(all_rows)} == {tuple(row) for row in np.asarray(data)}
    np.testing.assert_array_equal(few, all_rows[:5])
    other = draws.patterns("spins", jax.random.key(4), IMAGES, 16, data)
    assert not np.array_equal(all_rows, other)


@pytest.mark.parametrize("ensemble", ["spins", "sphere"])
def test_a_random_draw_is_of_the_ensemble(ensemble):
    drawn = np.asarray(draws.patterns(ensemble, jax.random.key(0), 3, 6))
    np.testing.assert_allclose(np.sum(drawn**2, axis=1), 6, rtol=1e-6)
    assert (set(np.unique(drawn)) == {-1.0, 1.0}) == (ensemble == "spins")


@pytest.mark.parametrize("memory", names())
def test_every_memory_runs_on_a_users_file_and_holds_the_known_units(images, quickly, memory):
    """A quarter is masked and the rest held: however bad the retrieval, the overlap stays above what the rest gives."""
    spins = find(memory).ensemble == "spins"
    weak = {} if spins else {"beta": 0.01}  # so that real states would be lost
    table = measured_table(memories=[memory], ensembles=[images], clamp=True, **MASKED, **weak)
    assert set(table.columns) == COLUMNS
    assert (table["neurons"] == 16).all()
    assert (table["ensemble"] == images).all()
    counted = [name for name in COUNTS if table[name].notna().all()]
    assert all(table[name].between(0, 6).all() for name in counted)
    assert ("target_weight" in counted) == isinstance(find(memory).build(np.ones((1, 2))), Memory)
    # Three quarters of the spins are right; of a real state these carry more than 99 % of the norm.
    assert (table["overlap"] >= (0.5 if spins else 0.95)).all()
    assert (table["one_step_error"] <= 0.25).all() if spins else table["one_step_error"].isna().all()

"""Real patterns: what each source gives to memories of spins and of real states, and all models running on them."""

import jax
import numpy as np
import pytest

from experiments.capacity import experiment as capacity
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


def test_units_that_are_not_held_are_lost(images, quickly):
    free = measured_table(memories=["modern"], ensembles=[images], beta=0.01, **MASKED)
    assert (free["overlap"] < 0.5).all()


@pytest.mark.parametrize(("ensemble", "memory"), [("digits", "modern"), ("photographs", "exponential")])
def test_images_are_recovered_when_few_and_mistaken_when_many(quickly, ensemble, memory):
    table = measured_table(
        memories=[memory], ensembles=[ensemble], patterns=[3, 1000], samples=2, queries=8, corruption=["mask:0.7"]
    )
    few, many = (rows["exact"].sum() / rows["queries"].sum() for _, rows in table.groupby("patterns"))
    assert few > 0.6
    assert few > many
    assert (table["queries"] == np.minimum(8, table["patterns"])).all()


def test_points_of_a_source_have_its_width(images):
    config = capacity.Config(memories=["classical"], ensembles=["random", images], patterns=[4], samples=1)
    assert [(point["ensemble"], point["neurons"]) for point in capacity.points(config)] == [
        ("random", 100),
        ("random", 200),
        (images, 16),
    ]


@pytest.mark.parametrize("spins", [True, False])
@pytest.mark.parametrize("constant", [0.0, 3.5, -1e30, 1e-42 * np.arange(5)])
def test_a_pattern_without_contrast_is_refused_by_its_row(tmp_path, spins, constant):
    array = np.random.default_rng(0).normal(size=(6, 5))
    array[[2, 4]] = constant
    np.save(tmp_path / "flat.npy", array)
    with pytest.raises(ValueError, match=r"must hold patterns with contrast, got .* all over row 2 and 1 more"):
        pattern_sets.load(str(tmp_path / "flat.npy"), spins)


def test_spins_are_taken_as_they_are_though_one_pattern_is_all_of_one_sign(tmp_path, capsys):
    spins = np.where(np.random.default_rng(0).random((4, 9)) < 0.3, 1, -1).astype(np.int8)
    spins[1], spins[2] = 1, -1
    np.save(tmp_path / "spins.npy", spins)
    assert (np.asarray(pattern_sets.load(str(tmp_path / "spins.npy"), True)) == spins).all()
    assert not capsys.readouterr().err


def test_differences_that_single_precision_cannot_hold_are_lost(tmp_path):
    array = 2**63 + np.random.default_rng(0).integers(0, 99, size=(6, 5)).astype(np.uint64)
    np.save(tmp_path / "big.npy", array)
    with pytest.raises(ValueError, match="must hold patterns with contrast"):
        pattern_sets.load(str(tmp_path / "big.npy"), False)


def test_grey_levels_of_any_size_are_scaled(tmp_path):
    levels = np.array([[-3e38, 0.0], [1.5e38, 3e38]], np.float32)
    np.save(tmp_path / "levels.npy", levels)
    np.testing.assert_allclose(pattern_sets.pixels(str(tmp_path / "levels.npy")), [[0, 0.5], [0.75, 1]], rtol=1e-6)

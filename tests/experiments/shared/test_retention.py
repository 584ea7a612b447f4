"""The compiled measurement against loops in plain numpy over the same patterns, and what it must not depend on."""

import os

import jax
import numpy as np
import pandas
import pytest

from experiments.capacity import experiment as capacity
from experiments.capacity.config import DYNAMICS
from experiments.shared import draws, retention
from hopfield import patterns
from hopfield.dynamics import asynchronous as asynchronous_
from tests.experiments.capacity.tables import COUNTS, measured_table

pytestmark = pytest.mark.usefixtures("as_run")

NEURONS, FLIPPED, STEPS = 24, 0.2, 3
GRID = {
    "memories": ["classical"],
    "neurons": [NEURONS],
    "patterns": [2, 3, 4, 7, 12],
    "samples": 16,
    "queries": 3,
    "corruption": [FLIPPED],
    "max_steps": STEPS,
}


def test_starts_on_spins_keep_nan_and_give_hidden_units_a_random_sign():
    """As the library's own mask fills them: all up would be half of a pattern of its own."""
    start = np.array([-0.3, 2.0, np.nan, *np.zeros(400)])
    signs = np.asarray(draws.as_spins(jax.random.key(0), start))
    np.testing.assert_array_equal(signs[:3], [-1.0, 1.0, np.nan])
    assert set(signs[3:]) == {-1.0, 1.0}
    assert abs(signs[3:].sum()) < 80  # four standard deviations


@pytest.fixture(scope="module")
def tables(as_run):
    return {dynamics: measured_table(dynamics=[dynamics], **GRID) for dynamics in DYNAMICS}


@jax.jit
def orders(key):
    """The order of every sweep: the one thing that a loop has to be told."""
    return jax.vmap(lambda sweep: asynchronous_.visiting_order(key, sweep, NEURONS, "asynchronous"))(np.arange(STEPS))


def aligned(couplings: np.ndarray, state: np.ndarray) -> np.ndarray:
    """All neurons at once; a field of exactly zero keeps the spin."""
    field = couplings @ state
    return np.where(field == 0, state, np.sign(field))


def synchronous(couplings: np.ndarray, state: np.ndarray) -> tuple[np.ndarray, int, bool]:
    """State that updates lead to, how many moved something, and whether they end in a cycle of two."""
    before = None
    for steps in range(STEPS):
        new = aligned(couplings, state)
        if (new == state).all():
            return state, steps, False
        if before is not None and (new == before).all():
            return new, steps + 1, True
        state, before = new, state
    return state, STEPS, False


def asynchronous(couplings: np.ndarray, state: np.ndarray, key) -> tuple[np.ndarray, int, bool]:
    """One neuron after the other, with the field of the moment."""
    state = state.copy()
    for sweep, order in enumerate(np.asarray(orders(key))):
        moved = False
        for i in order:
            field = couplings[i] @ state
            if field * state[i] < 0:
                state[i], moved = -state[i], True
        if not moved:
            return state, sweep, False
    return state, STEPS, False


def by_hand(point: dict, seed: int) -> dict:
    """One row of the table, from integers."""
    key = jax.random.key(seed)
    for part in (point["neurons"], point["patterns"], point["sample"]):
        key = jax.random.fold_in(key, part)
    pattern_key, probe_key = jax.random.split(key)
    stored = np.asarray(patterns.spins(pattern_key, point["patterns"], NEURONS)).astype(int)
    couplings = stored.T @ stored
    np.fill_diagonal(couplings, 0)
    row = dict.fromkeys(COUNTS, 0)
    overlaps, wrong, steps = [], [], []
    for probe in range(point["queries"]):
        target = stored[probe]
        corrupt_key, order_key = jax.random.split(jax.random.fold_in(probe_key, probe))
        start = np.asarray(patterns.flip(corrupt_key, target.astype(float), FLIPPED)).astype(int)
        assert (start != target).sum() == round(FLIPPED * NEURONS)
        if point["dynamics"] == "synchronous":
            end, moved, cycle = synchronous(couplings, start)
        else:
            end, moved, cycle = asynchronous(couplings, start, order_key)
        for name, state in (("target_weight", start), ("converged_weight", end)):
            scores = np.abs(stored @ state)
            row[name] += 2 * scores[probe] > scores.sum()
            row[f"{name}_ties"] = row.get(f"{name}_ties", 0) + (2 * scores[probe] == scores.sum())
        row["fixed_point"] += (aligned(couplings, target) == target).all()
        for name, cut in (("retained", 0.8), ("retained_0.7", 0.7), ("retained_0.9", 0.9)):
            row[name] += (end @ target) / NEURONS > cut
        row["exact"] += (end == target).all()
        row["cycles"] += cycle
        overlaps.append(end @ target / NEURONS)
        wrong.append(np.mean(aligned(couplings, start) != target))
        steps.append(moved)
    kept = [overlap for overlap in overlaps if overlap > 0.8]
    means = {"overlap": overlaps, "one_step_error": wrong, "steps": steps, "overlap_retained": kept or [np.nan]}
    return row | {name: np.mean(values) for name, values in means.items()}


@pytest.mark.parametrize("dynamics", DYNAMICS)
def test_every_number_is_that_of_a_loop_over_neurons(tables, dynamics):
    table = tables[dynamics]
    expected = pandas.DataFrame([by_hand(point, 0) for point in table.to_dict("records")])
    for name in COUNTS:
        ties = expected.get(f"{name}_ties", 0)  # a share of exactly one half is rounded to either side
        assert ((table[name] >= expected[name]) & (table[name] <= expected[name] + ties)).all(), name
    for name in ("overlap", "one_step_error", "steps", "overlap_retained"):
        np.testing.assert_allclose(table[name].astype(float), expected[name], atol=2e-7, err_msg=name)
    assert 0.2 < expected["retained"].sum() / table["queries"].sum() < 0.8
    assert expected["cycles"].any() == (dynamics == "synchronous")


def test_a_pattern_is_a_fixed_point_with_all_of_its_units_free():
    # Where the uncorrupted units of the start are held, too.
    options = GRID | {"patterns": [7, 12], "dynamics": ["synchronous"]}
    free, held = (measured_table(clamp=clamp, **options)["fixed_point"].tolist() for clamp in (False, True))
    assert free == held
    assert 0 < sum(free) < 3 * len(free)


def test_as_many_spins_are_flipped_as_the_theory_flips():
    """round(0.15 · 190) = round(28.5) = 28; in single precision 0.15 is above 0.15, and 28.5 rounds to 29."""
    point = {"memory": "classical", "neurons": 190, "patterns": 4, "sample": 0, "beta": None, "corruption": "flip:0.15"}
    amount = np.float32(retention._amount(point))
    start = patterns.flip(jax.random.key(0), np.ones(190, np.float32), amount)
    assert np.sum(np.asarray(start) < 0) == 28
    assert retention._amount(point | {"corruption": "noise:0.151"}) == 0.151


@pytest.mark.parametrize("cores", [1, 2, 5])
def test_numbers_do_not_depend_on_the_order_or_on_what_is_left_to_measure(tables, cores, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    config = capacity.Config(dynamics=["asynchronous"], **GRID)
    points = capacity.points(config)
    some = [*points[::-1][:37], *points[10:37]]
    found = pandas.DataFrame(list(capacity.measure(config, some)))
    by = ["patterns", "sample"]
    table = tables["asynchronous"].set_index(by)
    assert len(found) == len(some) == 64
    pandas.testing.assert_frame_equal(
        found.set_index(by).sort_index(), table.loc[found.set_index(by).index].sort_index()
    )


def test_patterns_that_larger_loads_alone_store_are_not_asked_for():
    # A program asks for as many patterns as the largest load has; of those not stored some are retained by chance.
    options = {"memories": ["classical"], "dynamics": ["synchronous"], "neurons": [11], "samples": 50, "queries": 8}
    alone, beside = (measured_table(patterns=patterns_, corruption=[0.1], **options) for patterns_ in ([3], [3, 8]))
    pandas.testing.assert_frame_equal(alone, beside[beside["patterns"] == 3].reset_index(drop=True))

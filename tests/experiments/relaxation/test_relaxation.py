"""Relaxation: correlation times against theory without load, escapes beyond the spinodal, divergence, figure."""

import numpy as np
import pandas
import pytest

from experiments.contract import Table
from experiments.relaxation import experiment, results, theory
from experiments.relaxation.experiment import Config
from hopfield.theory import classical, replicas

pytestmark = pytest.mark.usefixtures("as_run")


def measured(**options) -> Table:
    config = Config(**options)
    return pandas.DataFrame(experiment.measure(config, experiment.points(config)))


@pytest.fixture(scope="module")
def table(as_run) -> Table:
    return measured(neurons=[40, 60], around=[0.1, 2.0], samples=4, sweeps=200)


@pytest.mark.slow
def test_a_pattern_alone_is_remembered_as_long_as_theory_says() -> None:
    """Classical, T = 0.5 and 0.7: the overlap is a Markov chain in closed form."""
    options = {"degrees": [2], "temperatures": [0.5, 0.7], "neurons": [300], "around": [1e-6], "queries": 1}
    table = measured(**options, samples=16, sweeps=800)
    assert set(table["patterns"]) == {1}
    for temperature, rows in table.groupby("temperature"):
        times = rows["time"]
        exact = theory.time_without_load(2, float(temperature))
        assert abs(times.mean() - exact) < 4 * times.std() / np.sqrt(len(times))


@pytest.mark.physics
def test_retrieval_stays_well_below_the_spinodal_and_leaves_beyond(table: Table) -> None:
    below, beyond = (table[table["around"] == around] for around in (0.1, 2.0))
    assert below["left"].mean() < 0.1
    assert (below["exposure"] == 220).equals(below["left"] == 0)
    assert beyond["left"].mean() > 0.7
    assert beyond["time"].notna().equals(beyond["left"] == 0)
    left = table.groupby(results.CURVE)["left"].sum()
    escapes = experiment.summarise(table).of("escape time").set_index(results.CURVE)["value"]
    assert set(escapes.index) == set(left[left > 0].index)


def test_the_load_of_divergence_is_that_of_a_line_through_the_inverse_squares() -> None:
    base = {"starts": 4, "left": 0, "spinodal": 0.1, "time_stderr": 0.01}
    times = [base | {"load": load, "time": (0.12 - load) ** -0.5} for load in (0.02, 0.05, 0.08, 0.1)]
    found = results._divergence(times)
    assert found["value"] == pytest.approx(0.12, abs=1e-12)
    assert 0 < found["stderr"] < 0.01
    assert results._divergence(times[:2])["value"] is None
    assert results._divergence([e | {"left": 1} for e in times])["value"] is None


def test_a_start_that_leaves_in_its_first_sweep_was_exposed_for_one() -> None:
    # It has left where its overlap is below one half.
    for overlaps, left, exposure in (([0.4, 0.9, 0.9, 0.9], 1, 1), ([0.9, 0.9, 0.4, 0.9], 1, 3), ([0.9] * 4, 0, 4)):
        found = experiment._times(np.array(overlaps), 1)
        assert (found["left"], found["exposure"]) == (left, exposure)


def test_loads_are_in_units_of_the_spinodal() -> None:
    points: Table = pandas.DataFrame(experiment.points(Config(neurons=[200], around=[0.5], temperatures=[0.3])))
    loads = points.groupby("degree")["load"].first()
    assert loads[2] == pytest.approx(0.5 * classical.spinodal_load(0.3), abs=1 / 200)
    assert loads[3] == pytest.approx(0.5 * replicas.dense_spinodal_load(3, 0.3), abs=1 / 200**2)
    with pytest.raises(ValueError, match="temperatures must leave degree 3 a retrieval state"):
        experiment.check(Config(temperatures=[0.7]))

"""The hierarchical memory of digits: its networks against closed forms, its rows, summary and figure."""

import jax.numpy as jnp
import numpy as np
import pandas
import pytest

from experiments.hierarchy import experiment, networks
from experiments.hierarchy.config import Config
from hopfield import Memory, graphs
from hopfield.similarities import SquaredDistance
from hopfield.spaces import Euclidean
from tests.experiments.estimates import rows

RNG = np.random.default_rng(4)
DIGITS, STATE = RNG.random((6, 4, 16)).astype(np.float32), RNG.random((4, 16)).astype(np.float32)
ALL = np.ones(6, bool)
SMALL = Config(parts=[0, 4, 16], patterns=[8, 32, 128], samples=4, queries=8)

pytestmark = pytest.mark.usefixtures("as_run")


@pytest.fixture(scope="module")
def table(as_run) -> pandas.DataFrame:
    return pandas.DataFrame(experiment.measure(SMALL, experiment.points(SMALL)))


def test_the_flat_network_is_the_memory_of_distances():
    """With its hidden layer at rest E = ½‖x‖² − ln Σ exp(β(ξ·x − ½‖ξ‖²))/β = −ln Σ exp(−β‖x − ξ‖²/2)/β."""
    graph, x = networks.flat(jnp.asarray(DIGITS), ALL, 3.0), jnp.asarray(STATE)
    rows = DIGITS.reshape(6, 64)
    field = rows @ x.ravel() - 0.5 * jnp.sum(rows**2, axis=1)
    memory = Memory(rows, 3.0, similarity=SquaredDistance(), space=Euclidean(confined=False))
    expected = float(memory.energy(x.ravel()))
    assert float(graph.energy({"pixels": x, "wholes": field})) == pytest.approx(expected, abs=1e-5)


def test_units_that_stand_for_nothing_take_no_part():
    digits, used = jnp.asarray(DIGITS), np.arange(6) < 4
    several, few = networks.flat(digits, used, 3.0), networks.flat(digits[:4], ALL[:4], 3.0)
    states = {"pixels": DIGITS[0], "wholes": jnp.zeros(6)}
    ends = [graphs.descend(graph, states | {"wholes": jnp.zeros(n)}, 5) for graph, n in ((several, 6), (few, 4))]
    np.testing.assert_allclose(ends[0].state["pixels"], ends[1].state["pixels"], atol=1e-5)


def test_no_step_raises_the_energy_of_the_hierarchical_network():
    graph = networks.hierarchical(jnp.asarray(DIGITS), ALL, 3, 8.0, 2.0)
    start = graph.zeros() | {"pixels": jnp.asarray(STATE)}
    energy = np.asarray(graphs.descend(graph, start, 40).energies)
    assert np.all(np.diff(energy) <= 1e-6 * (1 + np.abs(energy[:-1])))
    assert energy[-1] < energy[0]


@pytest.mark.physics
def test_parts_hold_more_digits_than_as_many_numbers_of_pixels(table):
    """128 digits of 16 parts are 1536 numbers; a flat memory makes 24 digits of as many."""
    summary = experiment.summarise(table)
    gains = {(entry["parts"], entry["patterns"]): entry["value"] for entry in rows(summary, "gain")}
    assert gains[16, 128] > 2
    assert set(table["numbers"][table["parts"] == 16]) == {4 * (16 * 8 + 8), 4 * (256 + 32), 4 * (256 + 128)}


def test_few_digits_are_found_by_all_and_completed_better_than_others(table):
    few = table[(table["patterns"] == 8) & (table["parts"] != 4)]
    assert few["right"].sum() / few["asked"].sum() > 0.85
    assert (few["error"] < few["error_other"]).all()

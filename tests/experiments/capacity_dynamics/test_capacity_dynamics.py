"""Capacity by dynamics: every order ends where no spin lies against its field, and below its start."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas
import pytest

from experiments.capacity_dynamics import experiment, results
from experiments.capacity_dynamics.experiment import ORDERS, Config, measure, points, summarise
from hopfield import hebb_couplings, memories
from hopfield.patterns import spins
from hopfield.theory import classical
from tests.experiments.estimates import rows

pytestmark = pytest.mark.usefixtures("as_run")


@pytest.mark.parametrize("order", ["greedy", "reluctant", "cooling"])
def test_states_at_the_end_are_stable_against_single_flips_and_lower(order):
    stored = spins(jax.random.key(0), 13, 60)
    network, start = hebb_couplings(memories.find("classical").build(stored)), stored[0] * stored[1]
    program = experiment.Program(order, 60, 13, 1, 20, 100)
    end, cycle = experiment._end(program, network, start, jax.random.key(1), jnp.float32(0.05))
    assert (network.local_field(end) * end > 0).all()
    assert network.energy(end) < network.energy(start)
    assert not cycle


def test_the_largest_field_flips_first_or_the_smallest():
    """One flip of the second spin, or of the first, is enough for x = (1, 1, 1) with fields (−1, −3, 2)."""
    couplings = hebb_couplings(memories.find("classical").build(jnp.ones((1, 3))))
    matrix = jnp.array([[0.0, -2.0, 1.0], [-2.0, 0.0, -1.0], [1.0, -1.0, 0.0]])
    model = couplings.replace(matrix=matrix, scale=jnp.float32(1.0))
    assert experiment._by_field(model, jnp.ones(3), jnp.max).tolist() == [1, -1, 1]
    assert experiment._by_field(model, jnp.ones(3), jnp.min).tolist() == [-1, 1, -1]


@pytest.mark.slow
def test_all_orders_hold_few_patterns_and_lose_many():
    config = Config(orders=list(ORDERS), loads=[0.05, 0.8])
    summary = summarise(table := pandas.DataFrame(measure(config, points(config))))
    low, high = (table[table["load"] < 0.5], table[table["load"] > 0.5])
    assert low["retained"].sum() > 0.95 * low["queries"].sum()
    assert high["retained"].sum() < 0.1 * high["queries"].sum()
    for row in rows(summary, "energy of the retained"):
        if np.isfinite(row["theory"]):
            assert row["value"] == pytest.approx(row["theory"], abs=0.02)
    assert np.isclose(classical.replica(0.1).free_energy, -0.5, atol=0.02)


def test_the_shift_is_the_distance_between_steps_and_its_error_that_of_differences():
    """Both orders lose one query more in the same of two draws at each load: what they share is no error."""
    loads = np.linspace(0.05, 0.45, 9)
    ends = {"asynchronous": 0.175, "greedy": 0.275}
    table = pandas.DataFrame(
        {"order": order, "start": 1.0, "neurons": 100, "load": load, "sample": sample, "queries": 10}
        | {"retained": 9 + sample if load < end else 0}
        for order, end in ends.items()
        for load in loads
        for sample in range(2)
    )
    (row,) = results._shifts(table)
    assert row["order"] == "greedy"
    assert row["value"] == pytest.approx(0.95 * 0.1)
    by_hand = np.sqrt(2 * (0.05 * 0.1 / 2) ** 2)  # two loads at which 9 or 10 of 10 queries differ, s²/n = 0.05²
    assert row["stderr"] == pytest.approx(by_hand * 1.197, rel=1e-3)  # Student's t of 3 degrees of freedom

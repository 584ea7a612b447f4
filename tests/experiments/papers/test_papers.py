"""Claims of papers: each by a second route, and one run of all."""

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pandas
import pytest

from experiments.papers import cycles, hidden, kanerva, simplicial, vectors
from experiments.papers.experiment import CLAIMS, Config, measure, panels, points, summarise
from hopfield import retrieve, trajectory
from hopfield.dynamics import CYCLE
from hopfield.theory import classical


def test_shared_addresses_are_those_that_a_list_of_all_has():
    bits, addresses = 9, np.array(list(product((0, 1), repeat=9)))
    for distance, apart in product((1, 3, 4), (0, 1, 4, 9)):
        other = np.arange(bits) < apart
        near = (addresses.sum(axis=1) <= distance) & ((addresses != other).sum(axis=1) <= distance)
        assert kanerva.shared_addresses(bits, distance, apart) == near.sum()


def test_kanervas_memory_reads_as_softmax_at_the_published_beta():
    """Bricken & Pehlevan's three critical distances of 64 bits: 31.1, 14.9, 9.7, and R² of the lines."""
    found = np.array([kanerva.fitted(64, distance) for distance in (5, 11, 15)])
    np.testing.assert_allclose(found[:, 0], [31.1, 14.9, 9.66], atol=0.05)
    assert (found[:, 1] > [0.93, 0.97, 0.98]).all()


def test_all_hidden_states_are_stable_where_the_worst_of_them_is():
    """A unit that is on must bear all negative overlaps with others together, one that is off all positive ones."""
    rng, seen = np.random.default_rng(5), set()
    for visible in (13, 25, 41, 81):
        rows = rng.choice([-1.0, 1.0], (5, visible))
        overlaps = rows @ rows.T * (1 - np.eye(5)) / visible
        worst = max(np.clip(overlaps, 0, None).sum(axis=1).max(), np.clip(-overlaps, 0, None).sum(axis=1).max())
        assert hidden.stable(rows).all() == (worst < 0.5)
        seen.add(bool(worst < 0.5))
    assert seen == {True, False}


def test_vector_spins_turn_along_their_fields_and_never_raise_the_energy():
    space = vectors.VectorSpins(3)
    patterns = vectors.drawn(jax.random.key(0), 4, 4, 3)
    assert float(jnp.max(space.violation(patterns))) < 1e-6
    memory, state = vectors.vector_memory(patterns, 3), space.project(*(jnp.arange(12.0) - 5.5,) * 2)
    field = (patterns.T @ (patterns @ state)).reshape(4, 3)
    after = memory.update(state)
    np.testing.assert_allclose(after.reshape(4, 3), 3**0.5 * field / np.linalg.norm(field, axis=1)[:, None], rtol=1e-5)
    energies = [memory.energy(state)]
    for _ in range(5):
        state = memory.update(state)
        energies.append(memory.energy(state))
    assert (np.diff(energies) < 1e-6).all()
    held = memory.update(patterns[0] * -1, jnp.arange(12) < 3)
    np.testing.assert_array_equal(held[:3], -patterns[0, :3])


def test_phases_do_not_see_by_which_angle_all_spins_are_turned():
    memory = vectors.vector_memory(jax.random.normal(jax.random.key(1), (3, 8)), 2, phases=True)
    state = memory.space.project(*(jnp.arange(8.0) - 3.2,) * 2)
    assert float(memory.energy(vectors.turned(state))) == pytest.approx(float(memory.energy(state)), rel=1e-5)


def test_largest_loads_of_vectors_fall_as_their_components_and_phases_hold_half():
    """Published: 0.038 N of phases (Cook 1989), 1/d; d = 1 would be the classical network's 0.138."""
    loads = {components: vectors.spinodal(components)[0] for components in (0, 2, 8, 32)}
    assert loads[0] == pytest.approx(0.0383, abs=1e-4)
    assert loads[0] == pytest.approx(loads[2] / 2, rel=1e-6)
    assert 8 * loads[8] == pytest.approx(32 * loads[32], rel=0.02)
    assert 2 * loads[2] < 1.2 * float(classical.spinodal().load)
    assert np.isnan(vectors.retrieval_overlap(2, 1.01 * loads[2]))
    assert vectors.retrieval_overlap(2, 0.01) > 0.99


def test_rings_without_a_common_divisor_return_together_after_their_product_and_retrieve_says_so():
    network, start = cycles.rings([3, 4, 5], 3)
    end = retrieve(network, start, max_steps=300)
    assert (int(end.period), int(end.status)) == (60, CYCLE)
    states = np.asarray(trajectory(network, start, 60))
    np.testing.assert_array_equal(states[60], start)
    assert not (states[1:60] == states[0]).all(axis=1).any()


def test_a_network_of_pairs_and_triples_moves_as_its_energy_says():
    """Half of what a spin gains by being up, from energies alone; of all pairs it is the classical network."""
    stored = jnp.where(jax.random.bernoulli(jax.random.key(2), shape=(5, 9)), 1.0, -1.0)
    network, state = simplicial.simplices(stored, 1, 0.5), stored[0] * stored[1]
    assert len(network.pairs) + len(network.triples) == 36
    fields = network.local_field(state)
    for i in range(9):
        up, down = (network.energy(state.at[i].set(value)) for value in (1.0, -1.0))
        assert float(fields[i]) == pytest.approx(float(down - up) / 2, abs=1e-12)
    pairs = simplicial.simplices(stored, 1, 0.0)
    np.testing.assert_allclose(pairs.local_field(state), (stored.T @ stored - 5 * np.eye(9)) @ state / 9, atol=1e-12)


@pytest.fixture(scope="module")
def table() -> pandas.DataFrame:
    config = Config(samples=3)
    return pandas.DataFrame(list(measure(config, points(config))))


@pytest.mark.slow
def test_every_claim_has_a_mean_with_an_error_at_each_of_its_places(table):
    summary = summarise(table)
    for name, rows in table.groupby("claim"):
        found = summary.of(CLAIMS[name].quantity)
        means = rows.groupby(["curve", "x"])["value"].mean()
        np.testing.assert_allclose(found.set_index(["curve", "x"])["value"].sort_index(), means, rtol=1e-12)
    assert [panel.title for panel in panels(table, summary)] == [claim.quantity for claim in CLAIMS.values()]


@pytest.mark.slow
def test_overlaps_of_the_diluted_network_and_of_vectors_are_high_below_their_loads_and_low_above(table):
    for name in ("diluted", "vectors"):
        rows = table[table["claim"] == name].groupby("x")["value"].mean().sort_index()
        assert rows.iloc[0] > rows.iloc[-1]

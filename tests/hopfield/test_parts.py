"""Parts that can make a memory, and those that are refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import Memory, metrics
from hopfield._parts import check_parts, check_spins, checked_values, stored_spins
from hopfield.patterns.sources import as_source
from hopfield.similarities import Bilinear, Dot, SquaredDistance
from hopfield.spaces import Euclidean, Sphere

SPINS = jnp.array([[1.0, -1.0, 1.0], [-1.0, -1.0, 1.0]])
MARKED = SPINS.at[1, 2].set(0.25)


@pytest.mark.parametrize(
    ("similarity", "space"),
    [
        (Dot(), Euclidean()),
        (Dot(), Sphere(1.0)),
        (SquaredDistance(), Euclidean(confined=False)),
        (Bilinear(metrics.Euclidean(3)), Euclidean()),
    ],
    ids=["confined", "bounded", "distance", "metric"],
)
def test_parts_whose_energy_is_bounded_fit(similarity, space):
    check_parts(SPINS, similarity, space)


@pytest.mark.parametrize(
    ("similarity", "space", "sentence"),
    [
        (Dot(), Euclidean(confined=False), "space must be confined for Dot"),
        (Bilinear(metrics.Euclidean(4)), Euclidean(), r"metric must be \[N, 3\] for patterns of width 3, got \(4, 4\)"),
    ],
    ids=["unbounded", "metric of another width"],
)
def test_parts_that_do_not_fit_are_refused(similarity, space, sentence):
    with pytest.raises(ValueError, match=sentence):
        check_parts(SPINS, similarity, space)


def test_only_patterns_in_use_must_be_spins():
    check_spins(MARKED, jnp.array([True, False]))
    with pytest.raises(ValueError, match=r"patterns must be spins −1 or \+1, got entries 0\.75 away from them"):
        check_spins(MARKED, None)


def test_patterns_out_of_use_are_ones_whatever_they_hold():
    spins, used = stored_spins(MARKED, np.array([True, False]))
    assert used.tolist() == [True, False]
    np.testing.assert_array_equal(spins, [[1.0, -1.0, 1.0], [1.0, 1.0, 1.0]])
    assert stored_spins(SPINS, None)[1].all()


def test_values_are_one_row_per_pattern_of_a_matrix_or_a_source():
    values = jnp.array([[1.0], [2.0]])
    for patterns in (SPINS, as_source(SPINS)):
        np.testing.assert_array_equal(checked_values(values, patterns), values)
    with pytest.raises(ValueError, match=r"values must have one row per pattern \(2\), got 1"):
        checked_values(values[:1], SPINS)


def test_a_memory_may_hold_anything_while_jax_takes_it_apart() -> None:
    memory = Memory(SPINS)
    assert jax.tree.map(jnp.shape, memory).patterns == SPINS.shape
    assert jax.tree.map(lambda x: x.tolist(), memory).beta == 1.0
    batch = jax.tree.map(lambda x: jnp.stack([x, x]), memory)
    ends = jax.vmap(Memory.update, in_axes=(jax.tree.map(lambda _: 0, memory), None))(batch, SPINS[0])
    assert ends.shape == (2, 3)

"""Draws of patterns: keys and paddings."""

import itertools

import jax
import numpy as np
import pytest

from experiments.shared import draws


@pytest.mark.parametrize("row_cost", [1e3, 1e5, 1e7])
def test_paddings_are_those_that_cost_least_of_all_ways_to_share_programs(row_cost):
    """Against every way to cut five ascending numbers of patterns into programs."""
    counts = {20: 50, 900: 20, 1000: 20, 4000: 5, 30000: 1}
    sizes = sorted(counts)

    def cost(rows):
        return draws.PROGRAM * len(set(rows.values())) + row_cost * sum(counts[size] * rows[size] for size in sizes)

    ways = []
    for ends in itertools.product((False, True), repeat=len(sizes) - 1):
        tops = [size for size, end in zip(sizes, (*ends, True), strict=True) if end]
        ways.append({size: min(top for top in tops if top >= size) for size in sizes})
    found = draws.rows_for_counts(counts, row_cost)
    assert all(rows >= size for size, rows in found.items())
    assert cost(found) == min(map(cost, ways))


def test_keys_are_those_of_parts_folded_in_one_after_the_other():
    key = jax.random.key(3)
    for part in (16, 500, 7):
        key = jax.random.fold_in(key, part)
    for found, wanted in zip(draws.keys(3, 16, 500, 7), jax.random.split(key), strict=True):
        np.testing.assert_array_equal(jax.random.key_data(found), jax.random.key_data(wanted))


def test_every_query_has_a_key_of_its_number():
    key = jax.random.key(5)
    index, keys = draws.numbers_and_keys(key, 4)
    for i, found in zip(index, keys, strict=True):
        assert jax.random.key_data(found).tolist() == jax.random.key_data(jax.random.fold_in(key, i)).tolist()

"""Scales of the capacity experiment: whose counts, how many patterns there are, and what is refused."""

import pytest

from experiments.capacity import experiment as capacity
from experiments.capacity import scales
from experiments.capacity.config import Config, Scale


def test_a_common_value_beats_the_memorys_own_which_beats_smoke_scale():
    own = {"classical": Scale(neurons=[30], samples=7, beta=None), "modern": Scale(beta=2.0)}
    config = Config(memories=["classical", "modern"], per_memory=own, neurons=[50], queries=3)
    full = scales.scale_of(config, "classical")
    assert (full.neurons, full.loads, full.patterns, full.samples, full.queries) == ([50], None, None, 7, 3)
    assert (scales.scale_of(config, "modern").samples, scales.scale_of(config, "modern").beta) == (40, 2.0)
    assert {point["beta"] for point in capacity.points(config)} == {None, 2.0}


def test_patterns_that_are_not_stored_are_read_in_one_update_of_all():
    assert scales.scale_of(Config(ensembles=["generated"]), "classical").dynamics == ("synchronous",)


@pytest.mark.parametrize(
    ("common", "own", "expected"),
    [
        ({}, {}, (None, None)),
        ({}, {"loads": [0.3]}, ([0.3], None)),
        ({}, {"patterns": [5]}, (None, [5])),
        ({"loads": [0.3]}, {"patterns": [5]}, ([0.3], None)),
        ({"patterns": [5]}, {"loads": [0.3]}, (None, [5])),
    ],
    ids=["neither", "own loads", "own patterns", "loads over patterns", "patterns over loads"],
)
def test_loads_and_patterns_silence_each_other(common, own, expected):
    found = scales.scale_of(
        Config(memories=["classical"], per_memory={"classical": Scale(**own)}, **common), "classical"
    )
    assert (found.loads, found.patterns) == expected


@pytest.mark.parametrize(
    ("memory", "neurons", "load", "patterns"),
    [
        ("classical", 30, 0.15, 5),  # 4.5, to odd
        ("classical", 30, 0.01, 1),  # 0.3, but one pattern at least
        ("projection", 41, 0.5, 20),  # 20.5, no integer fields: to even
        ("dense:3", 25, 0.05, 31),
        ("dense:4", 16, 0.02, 81),  # 81.92
        ("dense:2", 41, 0.5, 21),
        ("exponential", 12, 0.5, 403),
        ("modern", 10, 0.62, 493),
        ("sparse:1.5", 10, 0.62, 493),
        ("epanechnikov", 8, 0.1, 2),
    ],
)
def test_patterns_are_the_rounded_load(memory, neurons, load, patterns):
    found = capacity.points(Config(memories=[memory], neurons=[neurons], loads=[load], queries=30, samples=1))
    assert [point["patterns"] for point in found] == [patterns]
    assert [point["queries"] for point in found] == [min(30, patterns)]


def test_loads_that_round_to_one_number_are_measured_once():
    points = capacity.points(Config(memories=["classical"], neurons=[10], loads=[0.31, 0.3, 0.29, 0.5], samples=1))
    assert [point["patterns"] for point in points] == [3, 5]


@pytest.mark.parametrize(("neurons", "samples"), [(10, 9), (99, 9), (100, 5), (250, 5), (900, 2)])
def test_samples_may_depend_on_the_size(neurons, samples):
    config = Config(memories=["classical"], neurons=[neurons], loads=[0.1], samples={100: 5, 0: 9, 300: 2})
    assert [point["sample"] for point in capacity.points(config)] == list(range(samples))

"""Retrievals shown step by step: what holds along every story, and how the memories end."""

import numpy as np
import pandas
import pytest

from experiments.retrieval_story import experiment
from experiments.retrieval_story.config import Config, decode
from experiments.retrieval_story.summary import courses, patterns, summarise

SMALL = Config(
    memories=["classical", "dense:8", "modern", "sparse"], betas=[0.04, 0.5], targets=[3], starts=2, steps=12
)


@pytest.fixture(scope="module")
def table() -> pandas.DataFrame:
    rows = list(experiment.measure(SMALL, experiment.points(SMALL)))
    assert len(rows) == len(experiment.points(SMALL))
    return pandas.DataFrame(rows)


@pytest.fixture(scope="module")
def ends(table) -> dict:
    return {(story["memory"], story["beta"]): story for story in summarise(table).more["stories"]}


def test_energy_never_rises_along_any_story(table):
    for _, part in courses(table):
        assert (np.diff(part["energy"]) <= 1e-5 * max(np.ptp(part["energy"]), 1.0)).all()


def test_every_story_begins_at_the_corrupted_pattern(table):
    """The upper half as stored, nothing below."""
    for (memory, *_), part in courses(table):
        kind = "spins" if memory in ("classical", "dense:8") else "sphere"
        start = decode(part.iloc[0]["state"])
        np.testing.assert_array_equal(start[:32], patterns(table, kind)[3][:32])
        assert not start[32:].any()


def test_every_story_ends_at_a_fixed_point(table, ends):
    assert all(story["still"] for story in ends.values())
    for _, part in courses(table):
        before, last = (decode(text) for text in part["state"].iloc[-2:])
        np.testing.assert_allclose(before, last, atol=2e-3)


def test_steep_memories_retrieve_and_flat_ones_end_in_mixtures_that_are_named(ends):
    assert {ends[key]["end"] for key in (("modern", 0.5), ("sparse", 0.5), ("dense:8", None))} == {"retrieved"}
    assert ends["classical", None]["end"] == ends["modern", 0.04]["end"] == "mixture of all"
    assert ends["sparse", 0.04]["end"] == "mixture of 3 + 5"

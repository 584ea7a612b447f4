"""Points that an experiment leaves out of what was asked for: each is told before anything is measured."""

import importlib
from typing import Any

import pytest

from experiments.shared.notes import noted

CASES: dict[str, tuple[dict[str, Any], int, str]] = {
    "landscape": (
        {"memories": ["classical", "modern"], "temperatures": [0.0, 0.5], "patterns": [5], "samples": 2, "starts": 2},
        12,
        "note: temperature 0 of modern has no landscape, as it stands for 1/β or the radius: left out",
    ),
    "mqar": (
        {"mixers": ["softmax"], "lengths": [8, 16], "pairs": [2, 4], "vocabulary": 24, "seeds": 1},
        3,
        "note: 4 pairs have no room in 8 tokens: left out",
    ),
    "capacity_asymptotic": (
        {"neurons": [26], "enumerated": [26], "corruption": [0.0], "around": [0.0], "samples": 1},
        3,
        "note: loads 0.674997 at N=26 have too many patterns to draw one by one: sampled alone",
    ),
    "capacity_sparse": (
        {"rules": ["hebb", "spins"], "activities": [0.1, 0.2], "around": [1.0], "samples": 2},
        6,
        "note: activity 0.1 of hebb is not from 0.15 to below 0.5: left out",
    ),
    "throughput": (
        {"tasks": ["counts"], "neurons": [31, 10_000], "patterns": [64], "queries": [2]},
        3,
        "note: neurons 10000 of counts needs more counts than there is room for: left out",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_left_out_is_told(name: str) -> None:
    options, count, line = CASES[name]
    experiment = importlib.import_module(f"experiments.{name}.experiment")
    with noted() as notes:
        points = experiment.points(experiment.Config(**options))
    assert (len(points), list(notes)) == (count, [line])

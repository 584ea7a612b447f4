"""Loads that nobody gave: looked for until queries fail, and measured where they do."""

import math

import numpy as np
import pytest

from experiments.capacity import bracket
from experiments.capacity import experiment as capacity
from experiments.capacity.config import Config
from tests.experiments import estimates
from tests.experiments.capacity.tables import invented_row, saved_table


@pytest.mark.parametrize(
    ("memory", "half"), [("classical", 0.14), ("classical", 0.02), ("dense:3", 0.1), ("exponential", 0.56)]
)
def test_a_threshold_is_found_within_five_per_cent(memory: str, half: float) -> None:
    config, generator = Config(memories=[memory]), np.random.default_rng(0)
    rows, further, rounds = [], capacity.points(config), 0
    while further:
        rows += [invented_row(generator, point, half, 0.1) for point in further]
        known = {tuple(row[name] for name in further[0]) for row in rows}
        further = [point for point in capacity.refine(config, rows) if tuple(point.values()) not in known]
        rounds += 1
    assert rounds <= 8
    found = estimates.rows(capacity.summarise(saved_table(rows)), "critical load", criterion="target_weight")
    assert len(found) == 2
    for entry in found:
        truth = half * (1 + 1 / entry["neurons"])
        assert entry["value"] == pytest.approx(truth, rel=0.05)


def test_patterns_that_never_fail_end_at_the_limit_and_padding_holds_every_rung() -> None:
    config = Config(memories=["classical"], neurons=[100], samples=1)
    rows = [point | {"retained": 1, "retained_0.7": 1, "retained_0.9": 1} for point in capacity.points(config)]
    while further := capacity.refine(config, [row | {"queries": 1} for row in rows]):
        rows += [point | {"retained": 1, "retained_0.7": 1, "retained_0.9": 1} for point in further]
    assert max(row["patterns"] for row in rows) == 2**17 + 1
    assert all(row["patterns"] <= bracket.padding(row["patterns"], 100) <= 2 ** math.ceil(17) + 1 for row in rows)

"""Detection of novel queries: areas under the ROC curve and weights left over beside theory."""

import numpy as np
import pandas
import pytest

from experiments.novelty.experiment import AREA, KEYS, LEFT, Config, measure, points, summarise
from tests.experiments.estimates import rows, value

SMALL = Config(neurons=[12], patterns=[16, 48], kappas=[4.0, 12.0], overlaps=[0.5, 0.8], samples=60, queries=4)


@pytest.fixture(scope="module")
def table() -> pandas.DataFrame:
    rows = list(measure(SMALL, points(SMALL)))
    assert len(rows) == len(points(SMALL)) == 480
    return pandas.DataFrame(rows)


@pytest.mark.physics
def test_areas_under_the_roc_curve_are_those_of_theory(table):
    for row in rows(summarise(table), AREA):
        assert abs(row["value"] - row["theory"]) < 4 * row["stderr"] + 0.01, row


def test_the_share_within_two_errors_can_be_counted_again(table):
    summary = summarise(table)
    draws = table["sample"].nunique()
    apart = [
        abs(area["value"] - area["theory"])
        <= 2 * (area["stderr"] or np.sqrt(area["theory"] * (1 - area["theory"]) / draws))
        for area in rows(summary, AREA)
    ]
    assert value(summary, "within two errors") == np.mean(apart)
    far = summarise(table.assign(auc=1.0))
    assert value(far, "within two errors") < 0.5, "draws that agree are no errorless agreement with theory"


def test_novel_queries_leave_more_weight_and_more_patterns_leave_less(table):
    summary = summarise(table)
    novel, known = (summary.of(f"{LEFT}, {name} query").set_index(KEYS)["value"] for name in ("novel", "known"))
    assert len(novel) == 8
    assert (novel > known).all()
    few, many = (novel.xs(count, level="patterns").to_numpy() for count in (16, 48))
    assert (few > many).all()

"""The throughput experiment: what it reports of a point, exponents of known curves, and what it refuses."""

import pandas
import pytest

from experiments.throughput.experiment import AXES, Config, measure, points, summarise
from tests.experiments import estimates


def test_rates_and_bytes_of_a_point_follow_from_its_time_and_sizes():
    config = Config(tasks=["softmax", "counts"], patterns=[4096], neurons=[16], queries=[8])
    for row in measure(config, points(config)[::3]):
        operations = {"softmax": 4 * 4096 * 16 * 8, "counts": 2 * 4096 * 8 * 17**2}[row["task"]]
        assert row["flop_per_s"] == pytest.approx(operations / row["run_s"])
        assert row["rows_per_s"] == pytest.approx(4096 * 8 / row["run_s"])
        assert row["share"] == pytest.approx(row["flop_per_s"] / row["product_flop_per_s"])
        assert 0 < row["run_s"] <= row["run_median_s"]
        assert row["compile_s"] > 0
        dense = 4096 * 8 * 8
        assert row["task"] == "counts" or row["temporary_bytes"] < 3 * dense
        assert row["task"] == "counts" or row["argument_bytes"] >= 4 * 4096 * 16


def invented() -> pandas.DataFrame:
    """Times in proportion to M and to the square of N, memory that grows with N only."""
    rows = []
    for axis in AXES:
        for value in (10, 100, 400, 1000):
            sizes = {name: value if name == axis else 10 for name in AXES}
            seconds = 1e-6 * sizes["patterns"] * sizes["neurons"] ** 2
            rows.append({"task": "softmax", "axis": axis, **sizes, "run_s": seconds, "share": 0.5, "compile_s": 1.0})
            rows[-1]["temporary_bytes"] = 8 * sizes["neurons"]
    return pandas.DataFrame(rows)


def test_slopes_are_the_exponents_of_the_last_decade():
    summary = summarise(invented())
    time, memory = (
        [estimates.value(summary, f"slope of {name}", axis=axis) for axis in AXES] for name in ("time", "memory")
    )
    assert time == pytest.approx([1, 2, 0], abs=1e-12)
    assert memory == pytest.approx([0, 1, 0], abs=1e-12)

"""Series of a live chart: named by what tells curves apart, means, heads together and apart."""

import pytest

from experiments.runner.series import Series


def test_curves_of_capacity_are_named_by_memory_and_size_and_counts_become_shares() -> None:
    points = [
        {"memory": memory, "dynamics": "asynchronous", "neurons": neurons, "patterns": int(load * neurons),
         "beta": None if memory == "classical" else 1.0, "queries": 4, "sample": sample}
        for memory in ("classical", "modern") for neurons in (10, 20) for load in (0.1, 0.2) for sample in (0, 1)
    ]  # fmt: skip
    series, told = Series("load"), []
    series.expect(points)
    for number, point in enumerate(points):
        row = point | {"load": point["patterns"] / point["neurons"], "retained": number % 5, "overlap": 0.5}
        told.append(series.add(point, row))
    assert [bool(each) for each in told] == [False, True] * 8
    assert told[1] == {
        "load": 0.1,
        "classical, N=10/retained": pytest.approx(0.125),  # 0 and 1 of 4
        "classical, N=10/overlap": 0.5,
    }
    assert series.done == 8
    assert series.curves["overlap"]["modern, N=20"] == [(0.1, 0.5), (0.2, 0.5)]

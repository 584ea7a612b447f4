"""Products of axes: columns in the order given, the last one varying fastest."""

from experiments.shared.axes import product_of


def test_points_are_all_combinations_and_the_last_axis_varies_fastest() -> None:
    found = product_of(size=[20, 10], sample=range(2))
    assert found == [
        {"size": 20, "sample": 0},
        {"size": 20, "sample": 1},
        {"size": 10, "sample": 0},
        {"size": 10, "sample": 1},
    ]
    assert [list(point) for point in found] == [["size", "sample"]] * 4
    assert product_of(size=[20], sample=[]) == []

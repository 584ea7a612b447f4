"""Products of axes: columns in the order given, the last of which varies fastest."""

from experiments.shared.axes import differing, product_of


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


def test_names_that_only_some_have_are_found() -> None:
    assert differing([]) == differing([{"a": 1, "b": 2}, {"b": 1, "a": 2}]) == []
    assert differing([{"a": 1}, {"a": 1, "c": 2}, {"b": 3}]) == ["a", "b", "c"]

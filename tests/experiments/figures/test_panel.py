"""Panels as data: what makers make of a frame, and the ends of axes."""

import pandas
import pytest

from experiments.figures.panel import Axis, Panel, Series, band, curves, entry, heat, level, upright


@pytest.fixture
def frame() -> pandas.DataFrame:
    return pandas.DataFrame(
        {"size": [10, 10, 20, 20], "load": [2.0, 1, 1, 2], "m": [0.2, 0.1, 0.3, 0.4], "m_stderr": 0.05, "exact": 0.25}
    )


def test_curves_are_sorted_and_have_errors_and_theory_of_their_colour(frame) -> None:
    theory, measured, *_ = curves(frame, "load", "m", by="size", theory="exact", label="$N={}$")
    assert measured.label == "$N=10$"
    assert measured.x.tolist() == [1, 2]
    assert measured.y.tolist() == [0.1, 0.2]
    assert measured.error.tolist() == [[0.05, 0.05]] * 2
    assert (measured.linestyle, measured.marker) == ("", "o")
    assert (theory.marker, theory.color) == ("", measured.color)
    assert theory.y.tolist() == [0.25, 0.25]
    (alone,) = curves(frame[:2], "load", "m")
    assert (alone.label, alone.linestyle) == ("", "-")


@pytest.mark.parametrize(
    ("series", "scale", "asked", "ends"),
    [
        ([Series([0, 1], [1, 3], [1.0, 1.0])], "linear", (None, None), (-0.2, 4.2)),
        ([Series([0, 1], [1, 3]), level(5.0)], "linear", (0, None), (0, 5.2)),
        ([Series([0, 1], [-1, 0])], "log", (None, None), (10**-0.05, 10**1.05)),
        ([Series([0, 1], [1, 100]), upright(3.0)], "log", (None, None), (10**-0.1, 10**2.1)),
        ([band([0, 1], [0, 1], [2, 4])], "linear", (None, None), (-0.2, 4.2)),
        ([entry("theory")], "linear", (None, None), (-0.05, 1.05)),
        ([Series([0, 1], [1, 100])], "linear", (3.0, -1.0), (3.0, -1.0)),
    ],
)
def test_an_axis_ends_at_its_data_with_a_margin(series, scale, asked, ends) -> None:
    panel = Panel("", Axis(), Axis("y", scale, asked), series)
    assert panel.ends("y") == pytest.approx(ends)


def test_cells_are_named_along_the_axes_from_the_top() -> None:
    table = pandas.DataFrame([[1, 2, 3], [4, 5, 6]], index=["a", "b"], columns=["x", "y", "z"])
    panel = heat(table, Axis("column"), Axis("row"), "cells", limits=(0, 6))
    assert [text for _, text in panel.x.ticks or ()] == ["x", "y", "z"]
    assert panel.ends("x") == (-0.5, 2.5)
    assert panel.ends("y") == (1.5, -0.5)
    assert panel.is_map

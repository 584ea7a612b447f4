"""Runs compared: panels joined by key, theory of each in its colour, what they share once, maps beside each other."""

import pytest

from experiments.figures import style
from experiments.figures.compare import compare, has_unshared_panels
from experiments.figures.panel import Axis, Panel, Series, guide, theory_line


@pytest.fixture(autouse=True)
def in_style():
    with style.style():
        yield


def success(theory: float, label: str = "$N=50$", right: float = 1.0, **more) -> Panel:
    measured = Series([0, 1], [0.2, 0.4], 0.1, label=label, marker="o", color="#0072B2")
    known = theory_line([0, 0.5, 1], [theory, 0.4, 0.3], "theory")
    return Panel(
        "success", Axis("load", limits=(0, right)), Axis("share", limits=(0, 1)), [measured, known, guide(0.5)], **more
    )


def test_theory_of_every_run_is_drawn_in_its_colour() -> None:
    (panel,) = compare({"beta=1": [success(0.2)], "beta=2": [success(0.3)]})
    parts = {part.label: part for part in panel.series}
    for label, theory in (("beta=1", 0.2), ("beta=2", 0.3)):
        line = parts[f"{label}, theory"]
        assert line.y[0] == theory
        assert line.linestyle == style.THEORY["linestyle"]
        assert line.color == parts[f"{label}, $N=50$"].color
    assert parts["beta=1, theory"].color != parts["beta=2, theory"].color


def test_panels_are_joined_by_their_key_where_titles_differ() -> None:
    first, second = success(0.2, key="success"), success(0.2, key="success")
    second.title = "success, $N=100$"
    assert len(compare({"a": [first], "b": [second]})) == 1
    assert has_unshared_panels({"a": [first], "b": [success(0.2)]})
    assert not has_unshared_panels({"a": [first], "b": [second]})

"""Figures of panels: rows and letters, legends below the data, texts that fit; and the same panels on a page."""

import itertools

import numpy as np
import pytest

from experiments.figures import draw, style, web
from experiments.figures.panel import Axis, Panel, Series, band, level, theory_line, upright

LONG = "a label that is so long that no legend of a panel of this width could hold it, $\\alpha = M / N$"


@pytest.fixture(autouse=True)
def in_style():
    with style.style():
        yield


def panel(title: str = "success", label: str = "$N=50$", color: str = "#0072B2") -> Panel:
    measured = Series([1, 2], [0.2, 0.4], 0.1, label=label, marker="o", color=color)
    return Panel(title, Axis("load"), Axis("share", "log"), [measured, theory_line([1, 2], [0.1, 0.2], "theory")])


@pytest.mark.parametrize(("count", "width", "rows", "columns"), [
    (1, None, 1, 1), (3, None, 1, 3), (4, None, 2, 2), (5, None, 2, 3), (3, 7.0, 2, 2), (3, 3.4, 3, 1)
])  # fmt: skip
def test_panels_stand_in_rows_under_letters(count, width, rows, columns) -> None:
    made = draw.figure([panel(f"panel {k}") for k in range(count)], width)
    grid = made.axes[0].get_gridspec()
    assert (grid.nrows, grid.ncols) == (rows, columns)
    titles = [ax.get_title(loc="left") for ax in made.axes]
    assert titles == [f"{draw.LETTERS[k]}  panel {k}" if count > 1 else "panel 0" for k in range(count)]
    assert width is None or made.get_figwidth() == width


def entries(legend) -> list[str]:
    return [text.get_text() for text in legend.get_texts()]


def test_entries_of_several_panels_stand_below_the_figure_once_and_others_at_their_panel() -> None:
    same, other = draw.figure([panel(), panel("b")]), draw.figure([panel(), panel("b", color="#D55E00")])
    assert entries(same.legends[0]) == ["$N=50$", "theory"]
    assert all(ax.get_legend() is None for ax in same.axes)
    assert entries(other.legends[0]) == ["theory"]
    assert [entries(ax.get_legend()) for ax in other.axes] == [["$N=50$"]] * 2
    for made in (same, other):
        made.draw_without_rendering()
    for ax in other.axes:
        assert ax.get_legend().get_window_extent().y1 < ax.get_window_extent().y0


def test_what_one_panel_has_and_a_sign_of_another_meaning_are_told_there() -> None:
    more, other = panel("b"), panel("c", label="pattern")
    more.series = [*more.series, upright(1.0, "limit", linestyle=":")]
    made = draw.figure([panel(), more, other, panel("d")])
    assert entries(made.legends[0]) == ["$N=50$", "theory"]
    own = [[] if ax.get_legend() is None else entries(ax.get_legend()) for ax in made.axes]
    assert own == [[], ["limit"], ["pattern", "theory"], []]


def test_one_panel_of_a_column_has_its_shape_and_a_legend_no_higher_than_its_axes() -> None:
    made = draw.figure([panel()], 3.4)
    assert tuple(made.get_size_inches()) == pytest.approx((3.4, 2.6))
    sizes = [Series([1], [1], label=f"$N={2**k}$", marker="o", color="black") for k in range(7)]
    made = draw.figure([Panel(series=[*sizes, upright(0.1, "a theory of many words, for all of these sizes")])], 3.4)
    made.draw_without_rendering()
    (ax,) = made.axes
    assert ax.get_legend().get_window_extent().height < ax.get_window_extent().height


def test_ticks_of_a_short_logarithmic_axis_do_not_touch() -> None:
    made = draw.figure([Panel("a", Axis("x", "log"), Axis("y"), [Series([0.045, 0.085], [0, 1], color="black")])], 3.4)
    made.draw_without_rendering()
    boxes = [text.get_window_extent() for text in made.axes[0].get_xticklabels() if text.get_text()]
    assert len(boxes) > 2
    assert all(one.x1 < other.x0 for one, other in itertools.pairwise(boxes))


@pytest.mark.parametrize("width", [3.4, 7.0, None])
def test_long_texts_are_wrapped_and_a_figure_grows_with_its_legends(width) -> None:
    one = panel(LONG, LONG)
    one.x, one.y = Axis(LONG), Axis(LONG + " " + LONG)
    made = draw.figure([one, panel("b"), panel("c")], width)
    made.draw_without_rendering()
    box = made.bbox
    boxes = [*made.legends, *(ax.get_legend() for ax in made.axes if ax.get_legend())]
    texts = [ax.title for ax in made.axes] + [text for legend in boxes for text in legend.get_texts()]
    for text in [*texts, made.axes[0].xaxis.label, made.axes[0].yaxis.label]:
        there = text.get_window_extent()
        assert there.x0 >= -1
        assert there.y0 >= -1
        assert there.x1 <= box.width + 1
        assert there.y1 <= box.height + 1
    assert made.get_figheight() > draw.figure([panel(), panel("b"), panel("c", "$N=2$")], width).get_figheight()


def test_a_page_has_the_same_numbers() -> None:
    part = panel()
    part.series = [
        *part.series,
        band([1, 2], [0.1, 0.2], [0.3, 0.5], color="#0072B2"),
        level(0.5),
        upright(1.5, "edge"),
    ]
    found = web.spec(part)
    assert found["traces"][0]["y"] == [0.2, 0.4]
    assert found["traces"][0]["error_y"]["array"] == [0.1, 0.1]
    assert found["traces"][2]["y"] == [0.1, 0.2, 0.5, 0.3]
    assert found["traces"][3]["x"] == pytest.approx(part.ends("x"), abs=1e-5)
    assert found["traces"][4]["y"] == pytest.approx(part.ends("y"), abs=1e-5)
    assert [entry["name"] for entry in found["legend"]] == ["N = 50", "theory", "edge"]
    assert found["y"]["range"] == pytest.approx(np.log10(part.ends("y")))
    assert found["y"]["type"] == "log"

"""Figures laid over each other: every group's theory, names that differ, and maps beside each other."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import PolyCollection, QuadMesh
from matplotlib.colors import LogNorm, to_rgb
from matplotlib.figure import Figure

from experiments.figures import extraction, interactive, overlay, style
from experiments.figures.style import THEORY


@pytest.fixture(autouse=True)
def in_style():
    with style.style():
        yield


def curves(theory: float, label: str | None = "$N=50$", right: float = 1.0) -> Figure:
    figure = Figure()
    ax = figure.subplots()
    ax.errorbar([0, 1], [0.2, 0.4], [0.1, 0.1], marker="o", color="#0072B2", label=label)
    ax.plot([0, 0.5, 1], [theory, 0.4, 0.3], **THEORY | {"label": "theory"})
    ax.axhline(0.5, color="0.8")
    ax.set(xlim=(0, right), ylim=(0, 1), title="a  success")
    return figure


def shown(figure: Figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_theory_of_every_group_is_drawn_dashed_in_its_colour() -> None:
    drawn = overlay.plot({"beta=1": curves(0.2), "beta=2": curves(0.3)})
    lines = {line.get_label(): line for line in drawn.axes[0].lines}
    points = {part.get_label(): part.lines[0] for part in drawn.axes[0].containers}
    for label, theory in (("beta=1", 0.2), ("beta=2", 0.3)):
        line = lines[f"{label}, theory"]
        assert line.get_ydata()[0] == theory
        assert line.get_linestyle() == "--"
        assert line.get_color() == points[f"{label}, $N=50$"].get_color()
    assert set(shown(drawn)) >= {"beta=1, theory", "beta=2, theory"}


def test_theory_that_groups_share_is_drawn_once_in_grey_from_side_to_side() -> None:
    drawn = overlay.plot({"beta=1": curves(0.2), "beta=2": curves(0.2, right=3.0)})
    (theory,) = (line for line in drawn.axes[0].lines if line.get_label() == "theory")
    assert np.ptp(to_rgb(theory.get_color())) == 0
    (level,) = (line for line in drawn.axes[0].lines if list(line.get_ydata()) == [0.5, 0.5])
    assert level.get_transform() == drawn.axes[0].get_yaxis_transform()
    assert drawn.axes[0].get_xlim() == (0, 3)


def test_no_two_entries_of_a_legend_are_alike() -> None:
    drawn = overlay.plot({"a": curves(0.2, "b, c"), "a, b": curves(0.3, "c")})
    names = shown(drawn)
    assert len(names) == len(set(names)) == 4
    assert {"a: b, c", "a, b: c"} < set(names)


def test_a_group_whose_curves_have_no_names_stands_in_the_legend() -> None:
    figures = {"beta=1": curves(0.2, None), "beta=2": curves(0.2, None)}
    for figure in figures.values():
        figure.axes[0].lines[-2].set_label("_theory")
    assert shown(overlay.plot(figures)) == ["beta=1", "beta=2"]


def heat(values: Any, **look: Any) -> Figure:
    figure = curves(0.2)
    figure.clear()
    left, right = figure.subplots(1, 2)
    image = left.pcolormesh([1, 2, 3], [1, 2, 3], np.asarray(values, float), **look)
    figure.colorbar(image, ax=left, label="overlap $m$")
    left.text(1.5, 1.5, "48")
    left.plot([1, 3], [1, 3], color="k", label="line of theory")
    left.set(title="a  map", xlabel=f"limit {np.max(values)}")
    left.set_xticks([1.5, 2.5], ["dot", "cosine"])
    right.plot([1, 2], [0, 1], marker="o", label="$N=50$")
    right.set(title="b  curve")
    return figure


def test_maps_stand_beside_each_other_with_their_colours_lines_and_texts() -> None:
    figures = {f"beta={k}": heat([[1, 10], [100, 1000 * k]], norm=LogNorm(1, 1000)) for k in (1, 2)}
    drawn = overlay.plot(figures)
    maps = [
        ax
        for ax in drawn.axes
        if any(isinstance(part, QuadMesh) for part in ax.collections) and ax.get_title(loc="left")
    ]
    assert [ax.get_title(loc="left") for ax in maps] == ["beta=1: map", "beta=2: map"]
    assert len({ax.get_subplotspec().rowspan.start for ax in maps}) == 1
    for ax, number in zip(maps, (1, 2), strict=True):
        assert isinstance(ax.collections[0].norm, LogNorm)
        assert float(np.max(ax.collections[0].get_array())) == 1000 * number
        assert [text.get_text() for text in ax.texts] == ["48"]
        assert to_rgb(ax.lines[0].get_color()) == (0, 0, 0)
        assert [text.get_text() for text in ax.get_xticklabels()] == ["dot", "cosine"]
        assert ax.collections[0].colorbar.ax.get_ylabel() == "overlap $m$"
    assert shown(drawn) == ["beta=1, $N=50$", "beta=2, $N=50$"]


@pytest.mark.parametrize("top", [1, 255])
def test_pictures_stand_beside_each_other(top: int) -> None:
    figures = {}
    for label in ("a", "b"):
        figures[label] = Figure()
        ax = figures[label].subplots()
        ax.imshow(np.full((2, 2, 3), top) if top == 1 else np.full((2, 2, 3), top, np.uint8))
        ax.set_title("picture")
    panels = extraction.panels(overlay.plot(figures))
    assert [panel.title for panel in panels] == ["a: picture", "b: picture"]
    assert all(panel.y.limits[0] > panel.y.limits[1] for panel in panels)


def regimes(shades: Sequence[str]) -> Figure:
    figure = Figure()
    left, right = figure.subplots(1, 2)
    squares = [[[(k, 0), (k + 1, 0), (k + 1, 1), (k, 1)]] for k in range(2)]
    for square, shade, name in zip(squares, shades, ("retrieval", "paramagnet"), strict=True):
        left.add_collection(PolyCollection(square, facecolor=shade, label=name, hatch="//"))
    left.plot([0, 2], [0, 1], color="k", label="spinodal")
    cells = PolyCollection([part for square in squares for part in square], array=np.array([0.0, 1.0]), cmap="gray")
    cells.set_clim(0, 1)
    right.add_collection(cells)
    figure.colorbar(cells, ax=right, label="overlap")
    for ax, title in ((left, "a  regimes"), (right, "b  overlap")):
        ax.set(xlim=(0, 2), ylim=(0, 1), title=title)
    return figure


def test_regimes_keep_their_names_and_colours() -> None:
    shades = ("#56B4E9", "#F7F7F7")
    for panel in extraction.panels(regimes(shades))[:1]:
        assert [entry["name"] for entry in interactive.spec(panel)["legend"]] == ["spinodal", "retrieval", "paramagnet"]
    drawn = overlay.plot({"seed=1": regimes(shades), "seed=2": regimes(shades)})
    panels = extraction.panels(drawn)
    assert [panel.title for panel in panels] == [f"seed={k}: {name}" for name in ("regimes", "overlap") for k in (1, 2)]
    for panel in panels[:2]:
        cells = {series.label: series.colour for series in panel.series if series.cell}
        assert {name: colour[:3] for name, colour in cells.items()} == {
            "retrieval": to_rgb(shades[0]), "paramagnet": to_rgb(shades[1])
        }  # fmt: skip
        assert all(series.hatch == "//" for series in panel.series if series.cell)
    for panel in panels[2:]:
        assert [series.colour[0] for series in panel.series if series.cell] == [0, 1]
    assert [ax.get_ylabel() for ax in drawn.axes if ax.get_label() == "<colorbar>"] == ["overlap"] * 2
    assert [text.get_text() for text in drawn.axes[0].get_legend().get_texts()] == [
        "retrieval",
        "paramagnet",
        "spinodal",
    ]


@pytest.mark.parametrize(("texts", "positive"), [(["dot", "cosine"], False), (["1", "2"], True)])
def test_named_ticks_keep_their_names(texts: list[str], positive: bool) -> None:
    figure = Figure()
    ax = figure.subplots()
    ax.plot([1, 2], [0, 1])
    ax.set(xlim=(0.5, 2.5))
    ax.set_xticks([1, 2], texts)
    (panel,) = extraction.panels(figure)
    assert panel.x.ticks == [(1.0, texts[0]), (2.0, texts[1])]
    axis = interactive.spec(panel)["x"]
    assert (axis["ticktext"], axis["positive"]) == (texts, positive)


def test_figures_of_maps_alone_have_panels_in_common() -> None:
    assert not overlay.has_unshared_panels({"seed=1": regimes(("r", "b")), "seed=2": regimes(("r", "b"))})


def test_every_map_has_the_label_of_its_own_colour_bar() -> None:
    figure = Figure()
    axes = figure.subplots(1, 3)
    cells = PolyCollection([[(0, 0), (1, 0), (1, 1)]], array=np.array([0.5]))
    axes[0].add_collection(cells)
    images = [ax.imshow(np.eye(2)) for ax in axes[1:]]
    for part, ax, label in zip(
        (cells, images[1], images[0]), axes[[0, 2, 1]], ("shade", "right", "middle"), strict=True
    ):
        figure.colorbar(part, ax=ax, label=label)
    assert [panel.colour_label for panel in extraction.panels(figure)] == ["shade", "middle", "right"]

"""Files of figures: SVG with text as text, small, the same picture; looks that a person asks for."""

import re
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pandas
import pytest

from experiments import contract
from experiments.contract import Figure
from experiments.figures import saving, style
from experiments.figures.panel import Axis, Panel, Series, band

ROOT = Path(__file__).resolve().parents[3]
LARGEST = 250_000


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "figures").glob("*.svg")), ids=lambda path: path.stem)
def test_published_figures_are_small_and_their_text_is_text(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.encode()) <= LARGEST
    assert text.count("<text") > 10
    assert "DejaVuSans-" not in text, "a letter is drawn as an outline"
    ElementTree.fromstring(text)


def drawn(directory: Path, **look) -> tuple[matplotlib.figure.Figure, str]:
    def panels(table, summary):
        points = Series(table["x"], table["y"], 0.1, label="0.12345 of all", marker="o", color="#0072B2")
        many = np.linspace(1, 2, 5000)
        cloud = Series(many, many, label="cloud", marker=".", color="#0072B2")
        return [
            Panel("points", Axis("x"), Axis("y"), [points]),
            Panel("cloud", series=[cloud, band([1, 2], [1, 1], [2, 2])]),
        ]

    table = pandas.DataFrame({"x": np.arange(1.0, 200), "y": np.arange(1.0, 200) ** 2})
    _, figure = saving.save(directory, panels, table, {}, Figure(**look))
    path = directory / "figure.svg"
    return figure, path.read_text(encoding="utf-8") if path.exists() else ""


def test_an_svg_is_short_and_whole(tmp_path: Path) -> None:
    figure, text = drawn(tmp_path)
    assert "<image" in text, "a cloud of points is an image inside the axes"
    assert len(text) < 60_000
    assert "0.12345 of all" in re.sub(r"<[^>]*>", "", text), "text keeps its digits"
    points = re.findall(r'<use xlink:href="#\w+" x="[\d.]+" y="[\d.]+"/>', text)
    assert len(points) == 199
    used = set(re.findall(r'(?:url\(|href=")#([\w-]+)', text))
    assert used == set(re.findall(r' id="([\w-]+)"', text))
    assert figure.axes[0].get_legend().get_window_extent().y1 < figure.axes[0].get_window_extent().y0


def test_a_look_changes_the_figure_and_no_number(tmp_path: Path) -> None:
    sheet = tmp_path / "mine.mplstyle"
    sheet.write_text("axes.prop_cycle: cycler(color=['ff0000', '00ff00'])\nfont.size: 7\n")
    (tmp_path / "figure.pdf").touch()
    figure, _ = drawn(tmp_path, style=str(sheet), width=4.0, format=["png"], log=["y"])
    assert figure.get_size_inches()[0] == pytest.approx(4.0)
    assert len({ax.get_subplotspec().colspan.start for ax in figure.axes}) == 1, "panels are stacked where it is narrow"
    assert figure.axes[0].get_yscale() == "log"
    assert figure.axes[0].get_xscale() == "linear"
    assert {path.name for path in tmp_path.glob("figure.*")} == {"figure.png"}
    with style.style(str(sheet)):
        assert matplotlib.rcParams["font.size"] == 7
        assert [look["color"] for look in style.series(["a", "b"]).values()] == ["#ff0000", "#00ff00"]


def test_panels_are_drawn_by_letter_or_title_at_the_width_of_a_column(tmp_path: Path) -> None:
    def panels(table: object, summary: dict) -> list[Panel]:
        return [Panel(title, series=[Series([1, 2], [1, 2])]) for title in ("one", "two", "three", "four")]

    def named(*names: str) -> matplotlib.figure.Figure:
        return saving.build_figure(panels, pandas.DataFrame(), {}, contract.Figure(width=3.4, panels=list(names)))[1]

    assert [ax.get_title(loc="left") for ax in named("d", "two").axes] == ["a  four", "b  two"]
    width, height = named("c").get_size_inches()
    assert (width, height) == (pytest.approx(3.4), pytest.approx(2.6, abs=0.4)), "one panel is no strip"
    with pytest.raises(contract.InputError, match=r"^figure.panels must be letters or titles of a \(one\), .* got e$"):
        named("a", "e")

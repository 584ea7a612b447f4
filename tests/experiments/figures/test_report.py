"""Reports in a real browser: they open without network or error, answer to mouse and keys, and show text as text."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas
import pytest

from experiments.contract import Summary
from experiments.figures import report, style
from experiments.figures.panel import Axis, Heat, Panel, Series, band, free, upright
from experiments.runs import main as runs

WARNING = "a warning with <b>no bold</b>"
HOSTILE = "<img src=x onerror=\"document.title='taken'\">.npy"


def panels() -> list[Panel]:
    parts = []
    for size, colour in ((50, "#0072B2"), (100, "#D55E00")):
        errors = [0.02, 0.05, 0.03]
        look = {"label": f"$N={size}$", "color": colour, "marker": "o"}
        parts.append(Series([0.1, 0.2, 0.4], [0.9, 0.5, 0.1], errors, samples=[4, 4, 4], **look))
        parts.append(band([0.1, 0.2, 0.4], [0.8, 0.4, 0.0], [1.0, 0.6, 0.2], color=colour))
    parts.append(upright(0.138, r"theory, $N\to\infty$"))
    cells = Heat(np.arange(6.0).reshape(3, 2), [0, 1, 2], [0, 1, 2, 3], "overlap $m$", (0, 5))
    return [
        Panel("success", Axis(r"load $\alpha = M/N$", limits=(0.05, 0.5)), Axis("share"), parts),
        Panel("map", heat=cells),
        free(lambda ax: ax.plot([1, 2]), "picture"),
    ]


def table() -> pandas.DataFrame:
    rows = [
        {"source": HOSTILE, "neurons": size, "load": load, "sample": sample, "retained": 3}
        for size in (50, 100)
        for load in (0.1, 0.2, 0.4)
        for sample in range(4)
    ]
    return pandas.DataFrame(rows)


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    load = {"quantity": "load", "ensemble": HOSTILE, "value": 0.141592, "stderr": 0.00123, "headline": True}
    summary = Summary([load, {"quantity": "one", "value": 2.0, "headline": True}], notes=[WARNING])
    story = report.Story("capacity", "capacity <script>", criteria=HOSTILE, differs=[("sources", HOSTILE)])
    with style.style():
        report.write(path, story, panels(), table(), summary)
    return path


def test_a_report_is_one_small_file_that_names_no_other(page_file: Path) -> None:
    text = page_file.read_text()
    assert page_file.stat().st_size < 1e6
    assert re.findall(r"(?:src|href)=\"(?!data:)[^\"]*\"", text) == []
    assert "Content-Security-Policy" in text


def test_text_from_data_is_shown_as_text(opened: Callable, page_file: Path) -> None:
    page = opened(page_file)
    assert page.title() == "capacity <script>"
    assert page.locator("img").count() == 1, "the picture"
    assert page.locator("h1").inner_text() == "capacity <script>"
    assert HOSTILE in page.locator("table.headlines").inner_text()
    assert HOSTILE in page.locator("#rows").inner_text()
    assert page.locator(".notes b").count() == 0


def test_hover_tells_value_error_size_and_samples(opened: Callable, page_file: Path) -> None:
    page = opened(page_file)
    text = page.evaluate("document.querySelector('.plot').data.find(trace => trace.error_y).text")
    assert text[1] == "<b>N = 50</b><br>load α = M/N: 0.2<br>share: 0.5 ± 0.05<br>4 samples"
    place = page.locator(".panel").first.locator(".points path.point").nth(1).bounding_box()
    page.mouse.move(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    assert "0.5 ± 0.05" in page.locator(".hoverlayer").first.text_content(timeout=5000)


def test_a_series_is_hidden_with_its_band_by_the_keyboard(opened: Callable, page_file: Path) -> None:
    page = opened(page_file)
    button = page.locator(".legend button", has_text="N = 50")
    count = "document.querySelector('.plot').data.filter(trace => trace.visible).length"
    before = page.evaluate(count)
    button.focus()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-pressed") == "false"
    assert page.evaluate(count) == before - 2
    page.keyboard.press("Enter")
    assert page.evaluate(count) == before


def test_axes_turn_logarithmic_and_files_are_saved(opened: Callable, page_file: Path, tmp_path: Path) -> None:
    page = opened(page_file)
    tools = page.locator(".panel").first.locator(".tools")
    tools.get_by_text("log x").click()
    assert page.evaluate("document.querySelector('.plot').layout.xaxis.type") == "log"
    for name, sign in (("SVG", "<svg"), ("CSV", "series,x,x_below")):
        with page.expect_download() as saved:
            tools.get_by_text(name, exact=True).click()
        saved.value.save_as(tmp_path / name)
        assert (tmp_path / name).read_text().startswith(sign)


def test_tables_sort_by_number(opened: Callable, page_file: Path) -> None:
    page = opened(page_file)
    head = page.locator("#rows th button", has_text="neurons")
    cells = "[...document.querySelectorAll('#rows tbody tr')].map(row => +row.cells[1].textContent)"
    head.click()
    assert page.evaluate(cells) == sorted(page.evaluate(cells))
    head.click()
    assert page.evaluate(cells)[0] == 100


def test_an_index_links_the_reports_of_a_folder(command: Callable, tmp_path: Path, opened: Callable) -> None:
    command("conf=toy", "limit=1", "output=out/a b#1")
    command("conf=toy", "limit=2", "output=out/c")
    assert runs(["out", "--html"]) == 0
    page = opened(tmp_path / "out/index.html")
    page.get_by_text("a b#1").click()
    page.wait_for_selector("html[data-ready=true]")
    assert page.locator("h1").inner_text() == "toy"
    assert json.loads((tmp_path / "out/c/run.json").read_text())["complete"] is True

"""Runs as the site keeps them: small pictures of all figures, reports without what they share, tables."""

import base64
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from experiments.figures import draw, report, style
from experiments.figures.panel import Axis, Panel, Series
from hopfield.theory import classical
from scripts import readme_picture, showcase

DOCS = Path(__file__).resolve().parents[2] / "docs"
TABLES: dict[str, Any] = json.loads(
    (DOCS / "_static" / "explorer" / "tables.js")
    .read_text(encoding="utf-8")
    .removeprefix("const TABLES = ")
    .rstrip(";\n")
)
REPORTS = sorted((DOCS / "reports").glob("*.html"))


def picture(kind: str) -> bytes:
    kept = io.BytesIO()
    Image.fromarray(np.full((30, 1600, 3), 200, np.uint8)).save(kept, kind)
    return kept.getvalue()


def test_a_command_of_the_tree_draws_every_picture_and_its_section_names_it() -> None:
    """Pictures of configurations `scripts/reproduce.py`, the others a script of their own."""
    drawn = {path.stem for path in showcase.FIGURES.glob("*.svg")}
    assert drawn <= {*(path.stem for path in (DOCS.parent / "conf").glob("*.yaml")), "benchmark"}
    assert {path.name for path in (DOCS / "_static").glob("*.svg")} == {"favicon.svg", readme_picture.PICTURE.name}
    sections = re.split(r"(?m)^#+ ", (DOCS / "results.md").read_text(encoding="utf-8"))
    for section in sections:
        for name in re.findall(r"\(figures/(\w+)\.svg\)", section):
            assert (f"conf={name}" if name != "benchmark" else "scripts/benchmark.py") in section, name


@pytest.mark.parametrize("folder", ["small", "cards"])
def test_every_figure_has_a_small_picture_and_all_of_them_fit_on_one_page(folder: str) -> None:
    figures = {path.stem for path in showcase.FIGURES.glob("*.svg")}
    small = {path.stem: path.stat().st_size for path in (showcase.FIGURES / folder).glob("*.webp")}
    assert small.keys() == figures
    assert sum(small.values()) < 1.2e6


def test_a_card_is_one_panel_of_the_three_in_a_row_and_nothing_of_it_is_cut() -> None:
    panels = [Panel(title, Axis("x"), Axis("y"), [Series([0, 1], [0, 1], label="p")]) for title in "pqr"]
    with style.style():
        figure = draw.figure(panels)
        card = Image.open(io.BytesIO(showcase.card(figure)))
    assert 0.7 < 3 * card.width / card.height * figure.get_figheight() / figure.get_figwidth() < 1.2
    pixels = np.asarray(card)
    assert min(pixels[[0, -1]].min(), pixels[:, [0, -1]].min()) > 240


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_a_kept_report_is_small_and_of_a_configuration(path: Path) -> None:
    assert path.stat().st_size <= showcase.LARGEST
    assert (DOCS.parent / "conf" / f"{path.stem}.yaml").is_file()
    text = path.read_text(encoding="utf-8")
    assert f"conf={path.stem}" in text
    assert "/root/" not in text


def test_a_report_loses_its_library_and_rows_and_gets_the_library_back() -> None:
    rows = "".join(f"<tr><td>{k}{'&lt;' * 200 * (k == 1)}</td></tr>" for k in range(90))
    image = f"data:image/png;base64,{base64.b64encode(picture('PNG')).decode()}"
    page = (
        '<p class="lead">All 90 rows.</p>'
        f'<div id="rows"><table><tr><th>k</th></tr><tbody>{rows}</tbody></table></div>'
        '<script type="application/json" id="data">'
        f'{{"image": "{image}", "x": "\\u003cimg\\u003e", "y": [0.123456789]}}</script>'
        f'<script type="text/plain" id="plotly">{report.bundle()}</script>'
    )
    kept = showcase.shortened(page)
    assert len(kept) < 5000
    assert "The first 40 of 90 rows" in kept
    assert kept.count("<tr>") == 41
    assert f"<td>1{'&lt;' * 19} …</td>" in kept
    assert r'"x":"\u003cimg\u003e","y":[0.123457]' in kept
    found = base64.b64decode(kept.partition("data:image/webp;base64,")[2].partition('"')[0])
    assert Image.open(io.BytesIO(found)).width == showcase.FRAME
    assert showcase.with_plotting_library(kept).count(report.bundle()) == 1
    assert Image.open(io.BytesIO(showcase.thumbnail(picture("PNG")))).width == showcase.WIDTH


def test_the_explorers_map_retrieves_below_the_line_of_theory() -> None:
    phases = TABLES["phases"]["classical"]
    x, y = (np.array(phases[name])[:-1] + np.diff(phases[name]) / 2 for name in "xy")
    overlap = np.array(phases["overlap"])
    end = classical.spinodal_temperature(x)
    below, above = y[:, None] < 0.8 * end, (y[:, None] > 1.3 * np.nan_to_num(end)) & (x > 0.02)
    assert overlap[below].mean() > 0.9
    assert overlap[above].mean() < 0.3

"""Showcase of a run for the site: its figure, a thumbnail, and its report without the parts common to all reports.

`python scripts/showcase.py NAME RUN` keeps docs/figures/NAME.svg, docs/figures/small/NAME.webp, its first panel as
docs/figures/cards/NAME.webp and docs/reports/NAME.html of the run in a folder; `scripts/reproduce.py` does it for every
run. Building the site puts the plotting library back.
"""

import base64
import io
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from PIL import Image

from experiments import plot
from experiments.contract import InputError
from experiments.figures import report, style
from experiments.runner import boundary

ROOT = Path(__file__).resolve().parent.parent
FIGURES, REPORTS = ROOT / "docs" / "figures", ROOT / "docs" / "reports"
WIDTH = 640
"""Pixels of a small picture."""
ROWS = 40
"""Rows of a table that a kept report shows."""
FRAME = 450
"""Pixels of an animated panel's images in a kept report."""
LARGEST = 1_100_000
"""Bytes of a kept report."""
_LIBRARY = re.compile(r'(?<=<script type="text/plain" id="plotly">)[^<]*')
_DATA = re.compile(r'(?<=<script type="application/json" id="data">)[^<]*')
_IMAGE = re.compile(r"data:image/png;base64,([A-Za-z0-9+/=]+)")
_LONG = re.compile(r"(?<=<td>)[^<]{300,}")
_SHOWN = re.compile(r"All (\d+) rows\.|The first \d+ of (\d+) rows; table\.csv holds all of them\.")


def shortened(page: str) -> str:
    """A report without the plotting library: the first rows of its table, short numbers and cells, images as WebP."""
    page = _IMAGE.sub(_as_webp, _DATA.sub(_rounded_json, page))
    before, mark, table = _LIBRARY.sub("", page).partition('id="rows"')
    body, end, after = table.partition("</tbody>")
    head, *rows = body.split("<tr>")
    if len(rows) > ROWS + 1:  # the first is that of the names
        told = f"The first {ROWS} of {{}} rows; the command writes all of them."
        before = _SHOWN.sub(lambda found: told.format(found[1] or found[2]), before)
    kept = "<tr>".join([head, *rows[: ROWS + 1]])
    return before + mark + _LONG.sub(_cut_cell, kept) + end + after


def _cut_cell(found: re.Match) -> str:
    """The beginning of a long cell, no escaped sign of it cut in two."""
    return re.sub(r"&[^;]*$", "", found[0][:80]) + " …"


def with_plotting_library(page: str) -> str:
    """A kept report with the plotting library, as a browser opens it."""
    return _LIBRARY.sub(lambda _: report.bundle(), page)


def thumbnail(picture: bytes, width: int = WIDTH, quality: int = 72) -> bytes:
    """A picture of limited width in pixels, WebP, on white."""
    image = Image.open(io.BytesIO(picture)).convert("RGBA")
    paper = Image.new("RGBA", image.size, "white")
    paper.alpha_composite(image)
    paper.thumbnail((width, 4 * width), Image.Resampling.LANCZOS)
    kept = io.BytesIO()
    paper.convert("RGB").save(kept, "WEBP", quality=quality, method=6)
    return kept.getvalue()


def card(figure: Figure) -> bytes:
    """The first panel of a figure, of limited width, WebP, without a legend that it shares with others."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for legend in figure.legends:
        legend.remove()
    pixels: Any = figure.axes[0].get_tightbbox()
    box = pixels.transformed(figure.dpi_scale_trans.inverted())
    kept = io.BytesIO()
    figure.savefig(kept, format="png", bbox_inches=box.padded(0.06))
    return thumbnail(kept.getvalue())


def _rounded_json(found: re.Match) -> str:
    """JSON in a script with numbers to six digits. Characters that could end the script stay escaped."""
    text = json.dumps(_rounded_floats(json.loads(found[0])), separators=(",", ":"))
    return re.sub("[<>&']", lambda sign: f"\\u{ord(sign[0]):04x}", text)


def _rounded_floats(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded_floats(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_rounded_floats(entry) for entry in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _as_webp(found: re.Match) -> str:
    image = thumbnail(base64.b64decode(found[1]), FRAME, 50)
    return f"data:image/webp;base64,{base64.b64encode(image).decode()}"


def keep(name: str, run: Path, figures: Path = FIGURES) -> str:
    """Keep what the site shows of a finished run.

    Args:
        name: of its configuration.
        run: its folder.
        figures: where figures go; reports go into docs/reports, or into a folder of this one if it is another.

    Returns:
        A sentence if the report is too large to be kept, else nothing.

    Raises:
        InputError: the folder has no figure or no report.
    """
    reports = REPORTS if figures == FIGURES else figures / "reports"
    if missing := [file for file in ("figure.svg", "figure.png", report.NAME) if not (run / file).is_file()]:
        raise InputError(f"RUN must be the folder of a finished run, got no {' and no '.join(missing)} in {run}")
    for folder in (figures / "small", figures / "cards", reports):
        folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(run / "figure.svg", figures / f"{name}.svg")
    (figures / "small" / f"{name}.webp").write_bytes(thumbnail((run / "figure.png").read_bytes()))
    with style.style():
        (figures / "cards" / f"{name}.webp").write_bytes(card(plot.figure(run)))
    page = shortened((run / report.NAME).read_text(encoding="utf-8")).encode()
    if len(page) > LARGEST:
        return f"{name}: its report of {len(page)} bytes is not kept, the limit is {LARGEST}"
    (reports / f"{name}.html").write_bytes(page)
    return ""


def main(argv: list[str]) -> int:
    """Keep one run."""
    if len(argv) != 2:
        raise InputError(f"showcase.py must be followed by NAME and a run's folder, got {' '.join(argv)}")
    if told := keep(argv[0], Path(argv[1])):
        print(told)
    return 0


if __name__ == "__main__":
    sys.exit(boundary.run_command(lambda: main(sys.argv[1:]), final=True))

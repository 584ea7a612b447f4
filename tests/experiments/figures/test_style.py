"""The house style: told apart in grey and by colour-blind readers, the same bytes every time, no state left behind."""

import re
from pathlib import Path

import matplotlib
import numpy as np
import pandas
import pytest
from matplotlib.colors import to_rgb
from matplotlib.layout_engine import ConstrainedLayoutEngine

from experiments import contract
from experiments.contract import Summary
from experiments.figures import saving, style
from experiments.figures.panel import Axis, Panel, Series, theory_line
from experiments.system import files

# Linear RGB to the two cone responses that a protanope and a deuteranope still tell apart, after Viénot, Brettel &
# Mollon (1999): both see the same blue, and one mixture each of red and green.
_BLIND = {
    "protanope": np.array([[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]]),
    "deuteranope": np.array([[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]]),
}


def linear(colour: str) -> np.ndarray:
    """sRGB to linear light (IEC 61966-2-1)."""
    rgb = np.array(to_rgb(colour))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


@pytest.mark.parametrize("eye", _BLIND)
def test_colours_differ_for_the_colour_blind(eye: str) -> None:
    seen = [_BLIND[eye] @ linear(colour) for colour in (*style.COLOURS, *style.MORE)]
    nearest = min(np.abs(a - b).max() for i, a in enumerate(seen) for b in seen[:i])
    assert nearest > 0.08


def test_no_text_is_smaller_than_a_page_can_show() -> None:
    with style.style():
        assert matplotlib.rcParams["font.size"] >= 9
        assert matplotlib.rcParams["legend.fontsize"] >= 8


def test_a_figure_is_laid_out_once_for_all_of_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that are laid out each for itself take as long again to lay out as to draw."""
    done, execute = [], ConstrainedLayoutEngine.execute
    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", lambda *given: done.append(execute(*given)))

    def panels(table: pandas.DataFrame, summary: Summary) -> list[Panel]:
        return [Panel("one"), Panel("two", y=Axis("a label that needs room"))]

    _, figure = saving.save(tmp_path, panels, pandas.DataFrame({"load": [0.1]}), Summary())
    assert len(done) == 1
    assert figure.axes[1].get_position().x0 > figure.axes[0].get_position().x1 + 0.05
    assert {path.name for path in tmp_path.iterdir()} == {"figure.svg", "figure.png", "figure.pdf"}


@pytest.mark.slow
def test_files_do_not_depend_on_the_day_or_the_process(tmp_path: Path) -> None:
    def panels(table, summary):
        found = [
            Series(table["x"], table["y"], summary.more["error"], label=label, **look)
            for label, look in style.series(["one", "two"]).items()
        ]
        return [Panel("one", series=found), Panel("two", series=[theory_line(table["x"], table["y"])])]

    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        files.write_text(folder / "table.csv", "x,y\n0,0\n1,0.84\n2,0.91\n")
        saving.save(folder, panels, pandas.read_csv(folder / "table.csv"), Summary(more={"error": 0.1}))
    for suffix in contract.FORMATS:
        first, second = ((tmp_path / name / f"figure.{suffix}").read_bytes() for name in ("first", "second"))
        assert first == second
        assert len(first) > 1000
        assert not re.search(rb"CreationDate|dc:date|tIME", first)
    assert {path.name for path in (tmp_path / "first").iterdir()} == {
        "table.csv", *(f"figure.{suffix}" for suffix in contract.FORMATS)
    }  # fmt: skip

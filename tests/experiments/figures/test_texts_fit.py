"""Texts of all figures stand on the canvas: as wide as a column, as a page, and as the figure is by itself.

Nothing here names an experiment: a new one is held to it.
"""

import re
from collections.abc import Callable
from pathlib import Path

import matplotlib
import pytest

from experiments import contract
from experiments.figures import saving, style, words
from experiments.runner import registry, results

WIDTHS = (3.4, 7.0, None)
KINDS = "exact|RS|replica symmetric|annealed|signal to noise|Gaussian|nearest|independent|1/D|one-step|no theory known"
PIXELS = 900
"""Pixels across of the figure as wide as it is by itself, as a page shows it."""


def cut(figure: matplotlib.figure.Figure) -> float:
    """Pixels by which texts, legends and axes of a figure reach beyond its canvas."""
    figure.set_dpi(PIXELS / figure.get_figwidth())
    figure.draw_without_rendering()
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    return max(-box.x0, -box.y0, box.x1 - width, box.y1 - height) * figure.dpi


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", registry.names())
def test_no_text_of_a_figure_is_cut(smoke: Callable[[str], Path], name: str) -> None:
    experiment = registry.load(name)
    table, summary = results.read(smoke(name), experiment)
    with style.style():
        panels = experiment.panels(table, summary)
        for width in WIDTHS:
            shown, figure = saving.build_figure(lambda *_: panels, table, summary, contract.Figure(width=width))
            assert cut(figure) < 1, width
            assert len(shown) <= 8
            texts = [text.get_text() for text in figure.findobj(matplotlib.text.Text)]
            assert [text for text in texts if words.readable(text) != text] == [], "ids where words belong"
        labels = [series.label for panel in panels for series in panel.series if "theory" in series.label]
        assert [label for label in labels if not re.search(KINDS, label)] == [], "theory that does not say its kind"

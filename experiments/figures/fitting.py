"""Texts that fit: their widths in inches, and lines of at most so many."""

import re
from functools import cache

from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.font_manager import FontProperties


def wrapped(text: str, width: float, size: float) -> str:
    """A text in lines of at most this many inches, formulas kept whole."""
    lines = []
    for line in text.split("\n"):
        words = re.findall(r"(?:\\\$|\$(?:\\\$|[^$])*\$|[^\s$])+", line) if width_of(line, size) > width else [line]
        taken = ""
        for word in words:
            longer = f"{taken} {word}" if taken else word
            if taken and width_of(longer, size) > width:
                lines.append(taken)
                longer = word
            taken = longer
        lines.append(taken)
    return "\n".join(lines)


@cache
def _renderer() -> RendererAgg:
    return RendererAgg(1, 1, 72)


@cache
def width_of(text: str, size: float) -> float:
    """Inches of the widest line of a text."""
    font = FontProperties(size=size)
    signs = [(line, "$" in line.replace(r"\$", "")) for line in text.split("\n")]
    return max(_renderer().get_text_width_height_descent(line or " ", font, math)[0] for line, math in signs) / 72

"""Legends: their entries, what panels share of them, and the place that they take."""

from collections.abc import Sequence

from experiments.figures.fitting import width_of, wrapped
from experiments.figures.panel import Panel, Series

SMALL = 8.0
"""Points of the letters of a legend."""
LINE = 1.35 / 72
"""Inches of a line of text for each point of its letters."""
SWATCH = 0.42
"""Inches of the sign of an entry, with the gaps around it."""
Entries = dict[str, Series]


def entries_of(panel: Panel) -> Entries:
    """Entries of a panel's legend by their texts, the first of equal ones."""
    found: Entries = {}
    for part in panel.series:
        if part.label:
            found.setdefault(part.label, part)
    return found


def _sign(part: Series) -> tuple:
    return part.color, part.marker, part.linestyle, part.markerfacecolor, part.kind


def shared(panels: Sequence[Panel]) -> tuple[Entries, list[int]]:
    """Entries of one legend for many panels, and the places of these: of all, or of four and more, else of none.

    The legend of one of them holds those of the others.
    """
    every = {place: entries for place, panel in enumerate(panels) if (entries := entries_of(panel))}
    for first in sorted(every, key=lambda place: -len(every[place])):
        held = [place for place in every if panels[place].legend == panels[first].legend]
        held = [place for place in held if _holds(every[first], every[place])]
        if len(held) >= min(4, max(2, len(every))):
            return every[first], held
    return {}, []


def _holds(most: Entries, entries: Entries) -> bool:
    return all(text in most and _sign(most[text]) == _sign(part) for text, part in entries.items())


def columns(entries: Sequence[str], width: float) -> int:
    """Columns that entries of a legend fit into."""
    widest = max(width_of(text, SMALL) for text in entries) + SWATCH
    return max(1, min(len(entries), int(width / widest)))


def height(entries: Entries, width: float, title: bool = False) -> float:
    """Inches of a legend of this width, nothing without entries."""
    if not entries:
        return 0.0
    texts = [wrapped(text, width - SWATCH, SMALL) for text in entries]
    lines = -(-len(texts) // columns(texts, width)) + sum(text.count("\n") for text in texts) + title
    return lines * SMALL * LINE + 0.1

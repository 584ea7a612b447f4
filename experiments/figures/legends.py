"""Legends: their entries, what panels share of them, and the place that they take."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

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


class Layout(NamedTuple):
    """Texts of a legend's entries, wrapped, the columns that they stand in, and its lines."""

    texts: list[str]
    columns: int
    lines: int


def _sign(part: Series) -> tuple:
    """What tells an entry from others: of marks, not whether a line joins them."""
    return part.color, part.marker, "" if part.marker else part.linestyle, part.markerfacecolor, part.kind


def shared(panels: Sequence[Panel]) -> tuple[Entries, list[int]]:
    """Entries of one legend for a figure, and the places of the panels that have any of them.

    They are those of several panels whose legends have one title, by the same sign in each: of all panels that have a
    legend, or of three and more. An entry of one panel alone stays there.
    """
    every = {place: entries for place, panel in enumerate(panels) if (entries := entries_of(panel))}
    best: tuple[Entries, list[int]] = {}, []
    for first in every:
        alike = [place for place in every if panels[place].legend == panels[first].legend]
        alike = [place for place in alike if _agree(every[first], every[place])]
        counts = Counter((text, _sign(part)) for place in alike for text, part in every[place].items())
        held = {text: part for place in alike for text, part in every[place].items() if counts[text, _sign(part)] > 1}
        places = [place for place in alike if {*every[place]} & {*held}]
        if len({_sign(part) for part in held.values()}) < len(held) or len(places) < min(3, max(2, len(every))):
            continue
        if len(places) * len(held) > len(best[1]) * len(best[0]):
            best = held, places
    return best


def _agree(one: Entries, other: Entries) -> bool:
    """Whether two legends have an entry in common, and no text or sign of one has another meaning in the other."""
    pairs, others = ({(text, _sign(part)) for text, part in entries.items()} for entries in (one, other))
    texts, signs = ({pair[side] for pair in pairs & others} for side in (0, 1))
    return bool(texts) and not any((text in texts) != (sign in signs) for text, sign in pairs | others)


def layout(entries: Iterable[str], width: float, most: float = np.inf) -> Layout:
    """Layout of a legend: as many columns as fit, and more of narrower texts where it were above `most` inches."""
    found = _layout(entries, width, 1)
    for columns in (2, 3, 4):
        if _inches(found.lines) > most and (narrower := _layout(entries, width, columns)).lines < found.lines:
            found = narrower
    return found


def _layout(entries: Iterable[str], width: float, least: int) -> Layout:
    texts = [wrapped(text, width / least - SWATCH, SMALL) for text in entries]
    for columns in range(len(texts), 0, -1):
        parts = [list(part) for part in np.array_split(np.array(texts, object), columns)]
        if columns == 1 or sum(max(width_of(text, SMALL) for text in part) + SWATCH for part in parts) <= width:
            return Layout(texts, columns, max(sum(text.count("\n") + 1 for text in part) for part in parts))
    return Layout([], 1, 0)


def height(entries: Iterable[str], width: float, title: bool = False, most: float = np.inf) -> float:
    """Inches of a legend of this width, nothing without entries and title."""
    lines = layout(entries, width, most).lines + title
    return _inches(lines) if lines else 0.0


def _inches(lines: int) -> float:
    return lines * SMALL * LINE + 0.1

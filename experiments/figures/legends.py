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
    """Look that tells an entry from others; whether a line joins marks is left out."""
    return part.color, part.marker, "" if part.marker else part.linestyle, part.markerfacecolor, part.kind


def shared(panels: Sequence[Panel]) -> tuple[Entries, list[int]]:
    """Entries of one legend for a figure, and the places of the panels that have any of them.

    They belong to several panels whose legends have one title, by the same sign in each: to all panels that have a
    legend, or to three and more. An entry of one panel alone stays there.
    """
    every = {place: entries for place, panel in enumerate(panels) if (entries := entries_of(panel))}
    pairs = {place: {(text, _sign(part)) for text, part in entries.items()} for place, entries in every.items()}
    best: tuple[Entries, list[int]] = {}, []
    for first in every:
        alike = [place for place in every if panels[place].legend == panels[first].legend]
        held, places = _held({place: pairs[place] for place in alike if pairs[place] & pairs[first]})
        if len(places) >= min(3, max(2, len(every))) and len(places) * len(held) > len(best[1]) * len(best[0]):
            parts = {text: part for place in places for text, part in every[place].items()}
            best = {text: part for text, part in parts.items() if (text, _sign(part)) in held}, places
    return best


def _held(pairs: dict[int, set[tuple]]) -> tuple[set[tuple], list[int]]:
    """Texts with signs that several panels have, and the places of these, without those to which one means another."""
    while True:
        counts = Counter(pair for each in pairs.values() for pair in each)
        held = {pair for pair, count in counts.items() if count > 1}
        texts, signs = ({pair[side] for pair in held} for side in (0, 1))
        wrong = [
            place for place, each in pairs.items() if any(text in texts or sign in signs for text, sign in each - held)
        ]
        if not wrong:
            return held, [place for place, each in pairs.items() if each & held]
        pairs.pop(min(wrong, key=lambda place: len(pairs[place] & held)))


def layout(entries: Iterable[str], width: float, most: float = np.inf) -> Layout:
    """Layout of a legend: as many columns as fit, and more of narrower texts if its height passed `most` inches."""
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

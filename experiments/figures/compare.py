"""Comparison of runs: panels of several runs joined by their keys, with one colour for each of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from experiments.figures.panel import Axis, Panel, Series
from experiments.figures.style import THEORY
from experiments.figures.style import series as looks

Member = tuple[str, Panel]
Names = Mapping[tuple[str, str], str]


def compare(runs: Mapping[str, Sequence[Panel]]) -> list[Panel]:
    """Panels of several runs, by their labels, as one figure's. Maps stand beside each other under their labels.

    Theory that is the same in all of them is drawn once, in grey; theory of each in the colour of its label.
    """
    names, colours = _names(runs), {label: look["color"] for label, look in looks(list(runs)).items()}
    joined: list[Panel] = []
    for members in _groups(runs):
        if members[0][1].is_map:
            joined += [replace(panel, title=f"{label}: {panel.title}") for label, panel in members]
        else:
            joined.append(_overlaid(members, colours, names))
    return joined


def has_unshared_panels(runs: Mapping[str, Sequence[Panel]]) -> bool:
    """True if some run shares no panel with the others. Maps, never overlaid, count where there is nothing else."""
    curves = {label: [panel for panel in panels if not panel.is_map] or panels for label, panels in runs.items()}
    return set(runs) != {label for members in _groups(curves) if len(members) > 1 for label, _ in members}


def _groups(runs: Mapping[str, Sequence[Panel]]) -> list[list[Member]]:
    """Panels of one key, in the order of the first of them."""
    groups: dict[tuple, list[Member]] = {}
    for label, panels in runs.items():
        seen: dict[tuple, int] = {}
        for panel in panels:
            axes = () if panel.is_map else (panel.x.label, panel.y.label)
            key = (panel.key,) if panel.key else (panel.title, *axes)
            seen[key] = seen.get(key, 0) + 1
            groups.setdefault((*key, seen[key]), []).append((label, panel))
    return list(groups.values())


def _names(runs: Mapping[str, Sequence[Panel]]) -> dict[tuple[str, str], str]:
    """The entry of a legend for every label of a run and of a series in it, no two alike."""
    pairs = {(label, part.label): None for label, panels in runs.items() for panel in panels for part in panel.series}
    pairs |= {(label, ""): None for label in runs}
    entries = {pair: ", ".join(filter(None, pair)) for pair in pairs}
    texts = list(entries.values())
    return {pair: text if texts.count(text) == 1 else f"{pair[0]}: {pair[1]}" for pair, text in entries.items()}


def _overlaid(members: Sequence[Member], colours: Mapping[str, str], names: Names) -> Panel:
    """One panel of all members' series, each in the colour of its run, and of what all share once in grey."""
    drawn: dict[tuple, Series] = {}
    for label, panel in members:
        own = [part for part in panel.series if not (part.is_grey and _is_shared(part, members))]
        labelled = any(part.label for part in own)
        for number, part in enumerate(own):
            name = names[label, part.label] if part.label or (number == 0 and not labelled) else ""
            drawn[label, number] = replace(part, color=colours[label], label=name)
        for part in panel.series:
            if part not in own:
                drawn.setdefault(_sign(part), replace(part, **THEORY))
    first = members[0][1]
    x, y = (_axis(members, side) for side in ("x", "y"))
    return replace(first, x=x, y=y, series=list(drawn.values()))


def _axis(members: Sequence[Member], side: str) -> Axis:
    """An axis that holds all members' axes."""
    first: Axis = getattr(members[0][1], side)
    ends = [panel.ends(side) for _, panel in members]
    low, high = min(map(min, ends)), max(map(max, ends))
    return replace(first, limits=(high, low) if ends[0][0] > ends[0][1] else (low, high))


def _is_shared(part: Series, members: Sequence[Member]) -> bool:
    """True if every run has a series with the same numbers in this panel."""
    return all(any(_sign(part) == _sign(other) for other in panel.series) for _, panel in members)


def _sign(part: Series) -> tuple:
    return (part.kind, part.label, *(np.round(values, 12).tobytes() for values in (part.x, part.y)))

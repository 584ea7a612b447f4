"""Panels of a sweep: the numbers that its summaries are about, with errors, against the option that was swept."""

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.contract import ERROR, LIMIT, THEORY
from experiments.figures.headlines import QUANTITY, cells, headlines
from experiments.figures.panel import Axis, Panel, Series, entry
from experiments.figures.style import THEORY as GREY
from experiments.figures.style import series as looks

MOST = 3
"""Quantities shown at most: the others are in the report."""
Group = tuple[Mapping[str, Any], Mapping[str, Any]]
"""Options of runs that are summarised together, and the scalars of their summary."""


def panels(groups: Sequence[Group]) -> list[Panel]:
    """A panel for each of the first quantities; nothing where no option with two numbers or words was swept."""
    names = [name for name in groups[0][0] if len({str(options[name]) for options, _ in groups}) > 1]
    if not names:
        return []
    axis = max(names, key=lambda name: (_is_number(groups, name), len({options[name] for options, _ in groups})))
    found: dict[str, dict[str, list[tuple]]] = {}
    for options, scalars in groups:
        beside = [f"{name}={options[name]}" for name in names if name != axis]
        for line in headlines({"scalars": scalars}):
            value, error = scalars[line["name"]], scalars.get(f"{line['name']}{ERROR}")
            if isinstance(value, float) and error is not None:
                known = scalars.get(f"{line['name']}{THEORY}", scalars.get(f"{line['name']}{LIMIT}"))
                quantity, label = _words(line["name"], beside)
                found.setdefault(quantity, {}).setdefault(label, []).append((options[axis], value, error, known))
    values = list(dict.fromkeys(options[axis] for options, _ in groups))
    numbers, chosen = _is_number(groups, axis), list(found.items())[:MOST]
    return [_panel(quantity, axis, values, curves, numbers) for quantity, curves in chosen]


def _is_number(groups: Sequence[Group], name: str) -> bool:
    return all(isinstance(options[name], int | float) and not isinstance(options[name], bool) for options, _ in groups)


def _words(name: str, beside: Sequence[str]) -> tuple[str, str]:
    """Quantity of a number, and what tells it from others of that quantity."""
    parts = cells(name)
    texts = [f"{column}={text}" if len(column) < 4 else text for column, text in parts.items()][1:]
    return parts[QUANTITY], ", ".join([*texts, *beside])


def _panel(quantity: str, axis: str, values: list, curves: Mapping[str, list[tuple]], numbers: bool) -> Panel:
    drawn, place = [], {value: value if numbers else number for number, value in enumerate(values)}
    known = False
    for label, look in looks(list(curves)).items():
        points = sorted((place[value], *rest) for value, *rest in curves[label])
        x, y, errors, theory = zip(*points, strict=True)
        drawn.append(Series(x, y, errors, label=label, **look if numbers else look | {"linestyle": ""}))
        if any(number is not None for number in theory):
            drawn.append(Series(x, theory, **GREY | {"color": look["color"]}))
            known = True
    drawn.append(entry("theory" if known else "no theory known", **GREY if known else {"color": "1.0"}))
    ticks = None if numbers else [(place[value], str(value)) for value in values]
    return Panel(f"{quantity} against {axis}", Axis(axis, ticks=ticks), Axis(quantity), drawn)

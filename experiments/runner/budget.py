"""Budgets: what a run would take, known from its options alone, and refused where no machine could give it.

The costs of experiments are upper bounds of points and of the largest array, and rough counts of multiplications.
"""

import dataclasses
import os
from collections.abc import Callable
from typing import Any

from experiments.contract import Config, Cost, InputError

POINTS = 10**6
"""Points of one table at most."""
ELEMENTS = 2**31
"""Entries of an array at most: indices are 32-bit."""
RATE = 2e9
"""Multiplications per second that time is estimated with; a core does one to ten times as many."""
COMPILING = 2.0
"""Seconds in which a program is traced and compiled."""
YEAR = 3.16e7
PATIENCE = 10 * YEAR
"""Seconds beyond which no run is begun."""
UNITS = ((YEAR, "year"), (86400.0, "day"), (3600.0, "hour"), (60.0, "minute"), (1.0, "second"))


def seconds(cost: Cost) -> float:
    """A rough estimate of the time a cost takes: multiplications, a millisecond a point, and compiling."""
    return cost.operations / RATE + 1e-3 * cost.points + COMPILING * cost.programs


def check(config: Config, conf: str, cost: Callable[[Any], Cost]) -> Cost:
    """The cost of a configuration.

    Raises:
        InputError: it is more than any machine, or this one, can give; one sentence with the option to blame.
    """
    estimate = cost(config)
    if (excess := _excess(estimate)) is not None:
        raise InputError(f"{_blame(config, cost) or f'conf={conf}'} must leave {excess}")
    return estimate


def sentence(conf: str, points: int, measured: int, cost: Cost, refined: bool = False) -> str:
    """Forecast of a run that `dry=true` prints. `refined` runs may add points where their results differ."""
    done = f", {measured} of them measured already" if measured else ""
    left = seconds(cost) * (points - measured) / max(points, 1)
    more = " and those that refinement adds" if refined else ""
    return f"{conf}: {points} points{more}{done}; largest array {_bytes(4 * cost.elements)}; {_time(left)}"


def _excess(cost: Cost) -> str | None:
    """The limit that a cost exceeds. None within all limits."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if not cost.points <= POINTS:
        return f"at most {POINTS} points, got {cost.points:.3g}"
    if not cost.elements < ELEMENTS:
        return f"arrays of less than 2^31 entries, got one of {cost.elements:.3g}"
    if not 4 * cost.elements <= memory / 2:
        limit = f"half of this machine's {_bytes(memory)}"
        return f"arrays that take at most {limit}, got one of {_bytes(4 * cost.elements)}"
    if not seconds(cost) <= PATIENCE:
        return f"a run of at most 10 years, got {_time(seconds(cost))}"
    return None


def _blame(config: Config, cost: Callable[[Any], Cost]) -> str | None:
    """Option whose default alone makes the cost acceptable, and least among such options. None if no option does."""
    defaults, bearable = type(config)(), {}
    for entry in dataclasses.fields(config):
        value, usual = getattr(config, entry.name), getattr(defaults, entry.name)
        if value == usual:
            continue
        try:
            cheaper = cost(dataclasses.replace(config, **{entry.name: usual}))
            if _excess(cheaper) is None:
                bearable[entry.name] = seconds(cheaper._replace(programs=0))
        except ValueError:  # the others do not go with this default
            continue
    return min(bearable, key=lambda name: bearable[name]) if bearable else None


def _bytes(number: float) -> str:
    exponent = next((k for k in (4, 3, 2, 1) if number >= 1024**k), 0)
    return f"{number / 1024**exponent:.3g} {('bytes', 'KiB', 'MiB', 'GiB', 'TiB')[exponent]}"


def _time(seconds: float) -> str:
    for length, name in UNITS:
        if seconds >= length:
            count = float(f"{seconds / length:.1g}")
            return f"about {count:g} {name}{'s' * (count != 1)}, compiling included"
    return "less than a second"

"""Loads as whole numbers of patterns, and numbers of draws and ranges of loads that depend on the size.

Two loads of a small network can round to the same number.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from experiments.contract import Point
from experiments.shared.notes import note


def counts(
    asked: Iterable[float],
    number: Callable[[float], int | None],
    what: str,
    *,
    name: str = "loads",
    counted: str = "M={}",
) -> list[int]:
    """Patterns M for each load, ascending and unique. Notes say which loads share an M and which are left out.

    Args:
        asked: loads, or what else decides.
        number: of patterns nearest to one of them, None where there is none.
        what: is measured at them, for the lines that `noted` collects.
        name: of the option.
        counted: words for a number that is not one of patterns.
    """
    by_number: dict[int | None, list[float]] = {}
    for value in sorted(asked):
        by_number.setdefault(number(value), []).append(value)
    for num_patterns, shared in by_number.items():
        values = ", ".join(f"{value:g}" for value in shared)
        if num_patterns is None:
            note(f"{name} {values} of {what} need too many patterns: left out")
        elif len(shared) > 1:
            note(f"{name} {values} of {what} are all {counted.format(num_patterns)}: measured once")
    return sorted(num_patterns for num_patterns in by_number if num_patterns is not None)


def around(units: Sequence[float], last: float, scale: int, what: str, *, least: int, largest: float) -> list[Point]:
    """Columns `around`, `patterns` and `load` of odd numbers of patterns, in ascending order; notes as `counts` does.

    Args:
        units: loads in units of the last one; `around` is the first of those that are one number.
        last: load of theory where retrieval ends.
        scale: number of patterns at load 1.
        what: is measured at them, for the lines that `noted` collects.
        least, largest: number of patterns, odd the least; loads that need more than the largest are left out.
    """

    def number(unit: float) -> int | None:
        num_patterns = odd(unit * (last * scale), least)
        return num_patterns if num_patterns <= largest else None

    asked = {number(unit): unit for unit in reversed(units)}
    found = counts(units, number, what, name="around")
    return [{"around": asked[m], "patterns": m, "load": m / scale} for m in found]


def curves(
    networks: Iterable[Point],
    units: Sequence[float],
    last: Callable[[Point], float],
    what: str,
    *,
    least: int,
    largest: int,
) -> list[Point]:
    """Networks with energies of degree n at loads M/N^(n−1). Loads with too many patterns are left out.

    Args:
        networks: columns `degree` and `neurons`, and what else tells them apart.
        units: loads in units of the last one, as `around` takes them.
        last: load of theory where retrieval of a network ends.
        what: is measured, for notes: a text with names of columns in braces.
        least, largest: number of patterns, odd, and number of their entries; loads that need more are left out.

    Returns:
        The columns of a network with `around`'s.

    Raises:
        ValueError: every load of every network needs more entries.
    """
    networks = list(networks)
    fitting = []
    for network in networks:
        scale, most = network["neurons"] ** (network["degree"] - 1), largest // network["neurons"]
        stored = around(units, last(network), scale, what.format(**network), least=least, largest=most)
        fitting += [network | columns for columns in stored]
    if not fitting:
        sizes = [*dict.fromkeys(network["neurons"] for network in networks)]
        raise ValueError(f"neurons must leave some degree at most {largest} entries of patterns, got {sizes}")
    return fitting


def odd(count: float, least: int) -> int:
    """Odd number nearest to a count, at least `least` (odd). Sums of an odd number of signs are never zero."""
    return max(least, 2 * round((count - 1) / 2) + 1)


def check_by_size(samples: Any, between: Any) -> None:
    """Check that `samples` is a number or {size: samples}, `between` {size: [lowest, highest]}; else ValueError."""
    table = samples if isinstance(samples, dict) else {0: 1 if samples is None else samples}
    for size, count in table.items() or [(0, 0)]:
        if any(isinstance(x, bool) or not isinstance(x, int) for x in (size, count)) or size < 0 or count < 1:
            raise ValueError(f"samples must be a positive integer, or {{size: samples}} of such, got {samples}")
    ranges = {} if between is None else between
    if not isinstance(ranges, dict) or not all(_is_range(*entry) for entry in ranges.items()):
        raise ValueError(f"between must be {{size: [lowest, highest]}} with numbers of loads, got {between}")


def _is_range(size: Any, ends: Any) -> bool:
    """True if an entry of `between` is a size and two loads in ascending order."""
    if isinstance(size, bool) or not isinstance(size, int) or size < 0 or not isinstance(ends, list) or len(ends) != 2:
        return False
    return all(isinstance(end, int | float) and not isinstance(end, bool) for end in ends) and ends[0] <= ends[1]


def samples_at(samples: int | dict[int, int], neurons: int) -> int:
    """Number of disorder samples at this size: the entry of the largest listed size that is at most `neurons`.

    Raises:
        ValueError: all sizes named are larger.
    """
    if not isinstance(samples, dict):
        return samples
    named = [size for size in samples if size <= neurons]
    if not named:
        raise ValueError(f"samples must name a size of at most N={neurons}, which is measured, got {samples}")
    return samples[max(named)]


def loads_at(asked: Iterable[float], between: dict[int, list[float]], neurons: int) -> list[float]:
    """Loads that are measured at this size: all where `between` names no size of at most `neurons`."""
    named = [size for size in between if size <= neurons]
    low, high = between[max(named)] if named else (0.0, math.inf)
    return [load for load in asked if low <= load <= high]

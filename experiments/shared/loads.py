"""Loads as whole numbers of patterns: two loads of a small network can round to the same number."""

from collections.abc import Callable, Iterable, Sequence

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
        counted: words for a number, where it is not one of patterns.
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
        The columns of a network with those of `around`.

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

"""Numbers of patterns of loads: whole, so that two loads of a small network can be one number."""

from collections.abc import Callable, Iterable
from functools import cache

from experiments.shared import files


def counts(loads: Iterable[float], number: Callable[[float], int], what: str) -> list[int]:
    """The numbers of patterns of loads, in ascending order; says once where loads share one, which is measured once.

    Args:
        loads: asked for.
        number: of patterns nearest to a load.
        what: is measured at them, for the line that says so.
    """
    by_number: dict[int, list[float]] = {}
    for load in sorted(set(loads)):
        by_number.setdefault(number(load), []).append(load)
    for patterns, shared in by_number.items():
        if len(shared) > 1:
            given = ", ".join(f"{load:g}" for load in shared)
            _say(f"note: loads {given} of {what} are all M={patterns}: measured once")
    return sorted(by_number)


@cache
def _say(line: str) -> None:
    files.say(line)

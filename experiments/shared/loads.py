"""Numbers of patterns by what is asked for, as loads: whole, so that two loads of a small network can be one number."""

from collections.abc import Callable, Iterable
from functools import cache

from experiments.shared import files


def counts(
    asked: Iterable[float], number: Callable[[float], int | None], what: str, *, name: str = "loads"
) -> list[int]:
    """The numbers of patterns of what is asked for, in ascending order; says once which share one, and which have none.

    Args:
        asked: loads, or what else decides.
        number: of patterns nearest to one of them, None where there is none.
        what: is measured at them, for the lines that say so.
        name: of the option.
    """
    by_number: dict[int | None, list[float]] = {}
    for value in sorted(set(asked)):
        by_number.setdefault(number(value), []).append(value)
    for patterns, shared in by_number.items():
        given = ", ".join(f"{value:g}" for value in shared)
        if patterns is None:
            _say(f"note: {name} {given} of {what} need too many patterns: left out")
        elif len(shared) > 1:
            _say(f"note: {name} {given} of {what} are all M={patterns}: measured once")
    return sorted(patterns for patterns in by_number if patterns is not None)


@cache
def _say(line: str) -> None:
    files.say(line)

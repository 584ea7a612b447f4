"""Numbers of patterns by what is asked for, as loads: whole, so that two loads of a small network can be one number."""

from collections.abc import Callable, Iterable

from experiments.shared import files

_NOTES: dict[str, bool] = {}
"""Lines on what was asked for and is not measured as such, and whether they have been said."""


def counts(
    asked: Iterable[float], number: Callable[[float], int | None], what: str, *, name: str = "loads"
) -> list[int]:
    """The numbers of patterns of what is asked for, in ascending order; notes which share one, and which have none.

    Args:
        asked: loads, or what else decides.
        number: of patterns nearest to one of them, None where there is none.
        what: is measured at them, for the lines that `announce` says.
        name: of the option.
    """
    by_number: dict[int | None, list[float]] = {}
    for value in sorted(set(asked)):
        by_number.setdefault(number(value), []).append(value)
    for patterns, shared in by_number.items():
        given = ", ".join(f"{value:g}" for value in shared)
        if patterns is None:
            _NOTES.setdefault(f"note: {name} {given} of {what} need too many patterns: left out", False)
        elif len(shared) > 1:
            _NOTES.setdefault(f"note: {name} {given} of {what} are all M={patterns}: measured once", False)
    return sorted(patterns for patterns in by_number if patterns is not None)


def announce() -> None:
    """Say once what has been noted, when a measurement begins: a run that is refused says one sentence alone."""
    for line in [line for line, said in _NOTES.items() if not said]:
        files.say(line)
        _NOTES[line] = True

"""Corruptions that queries start from: one name for each in tables, and the words of a reader for it in figures."""

from typing import Any

from hopfield.patterns import corruption

CLEAN = "clean"
HELD = ", rest held"


def name(spec: Any, held: bool = False) -> str:
    """One name for every start: `clean` where nothing is corrupted, else kind:amount, and whether the rest is held.

    Raises:
        ValueError: `spec` is no corruption, as `hopfield.patterns.corruption` reads them.
    """
    start = None if spec == CLEAN else corruption(spec)
    return (str(start) if start and start.amount else CLEAN) + (HELD if held else "")


def parts(start: str) -> tuple[str, float]:
    """Kind and amount of a named start. A clean start flips a fraction 0."""
    start = start.removesuffix(HELD)
    if start == CLEAN:
        return "flip", 0.0
    chosen = corruption(start)
    return chosen.kind, chosen.amount


def flipped_fraction(start: str) -> float | None:
    """Fraction of the spins that a named start flips. None for one that does something else, or holds the rest."""
    kind, amount = parts(start)
    return amount if kind == "flip" and not start.endswith(HELD) else None


def label(start: str) -> str:
    """A named start in words."""
    if start.endswith(HELD):
        return label(start.removesuffix(HELD)) + HELD
    kind, amount = parts(start)
    if not amount:
        return "clean start"
    words = {"flip": "of the signs flipped", "mask": "masked", "lower": "masked, lower part"}
    if kind in words:
        return f"{100 * amount:g}% {words[kind]}"
    return f"noise of deviation {amount:g}" if kind == "noise" else f"{kind.rpartition('.py:')[2]} {amount:g}"

"""Options of the hierarchical memory of digits."""

from dataclasses import dataclass

from experiments import contract
from experiments.bounds import Use
from experiments.columns import Column, shared
from experiments.contract import grid_axis, option

FLAT = 0
"""Number of parts of the memory that has none: it stores whole digits."""
DIGITS = 1797


@dataclass
class Config(contract.Config):
    """Options of the hierarchical memory of digits; the defaults are smoke scale."""

    parts: list[int] = grid_axis([FLAT, 8], "parts K of every quadrant, 0 for the flat memory", least=0, most=512)
    patterns: list[int] = grid_axis([8, 32], "numbers of stored digits M", least=2, most=1700)
    hidden: list[int] = grid_axis([2], "quadrants of a digit that are hidden, the last ones", least=1, most=3)
    samples: int = option(4, "draws of stored digits", least=2, extends=True)
    queries: int = option(8, "digits asked for in each sample, of the stored ones and of others", least=1, most=64)
    beta: float = option(8.0, "inverse temperature of the layers of parts and of wholes", above=0, most=1e3)
    coupling: float = option(
        2.0,
        "strength J between parts and wholes",
        above=0,
        most=1e3,
        used_when=Use("parts has one above 0", lambda config: max(config.parts) > FLAT),
    )


COLUMNS = shared("patterns", "sample") | {
    "parts": Column("parts K of each quadrant; 0 is the flat memory", "count", kind=int),
    "hidden": Column("quadrants hidden", "count", kind=int),
    "numbers": Column("numbers that the memory stores", "count", kind=int),
    "asked": Column("digits that were queried, at most the option queries", "count", kind=int),
    "right": Column("queried digits whose own unit ends with the largest field", "count of asked", kind=int),
    "error": Column("root mean square error of the hidden pixels, of stored digits"),
    "error_other": Column("root mean square error of the hidden pixels, of digits that are not stored"),
}

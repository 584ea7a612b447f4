"""Bracket of a critical load, for a memory without given loads: where its queries begin to fail is looked for first.

The number of patterns doubles, at a few samples each, until the criteria that the memory is judged by have fallen;
loads across the fall follow at all samples. Which they are depends on the rows of those few samples alone.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

import numpy as np

from experiments.contract import Row
from experiments.shared.retention import CUTS
from hopfield.memories import Parity, find

HEADLINES = {False: tuple(CUTS), True: ("target_weight", "converged_weight")}
"""Criteria that judge a memory, in the command's last lines, by whether the memory's load is ln M / N."""
SIZES = (200, 100, 50, 30, 20, 14, 10, 8, 6, 4)
"""Numbers of neurons; the two largest are taken whose patterns at load ½ have at most 2^17 entries."""
SAMPLES = 6
"""Samples of each number of patterns on the way to the fall, at most."""
LOADS = 11
"""Loads across the fall."""
FALLEN = 0.1
"""Share of queries below which a criterion has fallen; it has not begun to above 1 − that."""
FIRST, MOST = 2**14, 2**24
"""Entries of patterns up to which M doubles at once, and at most."""


def logarithmic(memory: str) -> bool:
    """True if the load of a memory is ln M / N."""
    return find(memory).scaling.symbol == "ln M / N"


def sizes(memory: str) -> list[int]:
    """Numbers of neurons that a memory is measured at if none are given, in ascending order."""
    number = find(memory).scaling.num_patterns
    return sorted([size for size in SIZES if number(0.5, size) * size <= 2**17][:2] or SIZES[-1:])


def rungs(memory: str, neurons: int, parity: Parity, most: int) -> Iterator[int]:
    """Numbers of patterns that double, of a parity as `Blueprint.rounded` has it, `most` and `MOST` entries at most."""
    blueprint = find(memory)
    numbers = (blueprint.rounded(blueprint.scaling.load(2**k, neurons), neurons, parity) for k in range(64))
    return takewhile(lambda number: number <= min(most, MOST // neurons), numbers)


def first(memory: str, neurons: int, parity: Parity, most: int) -> list[int]:
    """Numbers of patterns that are measured before anything is known."""
    return sorted(set(rungs(memory, neurons, parity, min(most, max(4, FIRST // neurons)))))


def padding(num_patterns: int, neurons: int) -> int:
    """Rows that patterns are padded to: one beyond a power of two, as rungs of odd numbers are."""
    return 1 + (1 << (max(num_patterns - 1, 32, 2**14 // neurons) - 1).bit_length())


def further(memory: str, neurons: int, parity: Parity, most: int, rows: Sequence[Row]) -> tuple[list[int], bool]:
    """Numbers of patterns to measure next, and whether at all samples: more rungs, or loads across the fall."""
    ladder = list(dict.fromkeys(rungs(memory, neurons, parity, most)))
    known = {row["patterns"] for row in rows if row["sample"] == 0}
    climbed = [rung for rung in ladder if rung in known]
    shares = [_shares(name, climbed, rows) for name in HEADLINES[logarithmic(memory)] if rows[0][name] is not None]
    left = [rung for rung in ladder if rung > climbed[-1]]
    if left and any(share[-1] > FALLEN and not _fallen(share) for share in shares):
        return left[:2], False
    ends = [ends for share in shares if (ends := _fall(share)) is not None]
    if not ends:
        return [], True
    blueprint = find(memory)
    low, high = climbed[min(low for low, _ in ends)], climbed[max(high for _, high in ends)]
    loads = np.linspace(blueprint.scaling.load(low, neurons), blueprint.scaling.load(high, neurons), LOADS)
    return sorted({blueprint.rounded(float(load), neurons, parity) for load in loads}), True


def _shares(criterion: str, climbed: Sequence[int], rows: Sequence[Row]) -> list[float]:
    """Share of queries of the first samples that pass a criterion, at each rung."""
    counted = [[row for row in rows if row["patterns"] == rung and row["sample"] < SAMPLES] for rung in climbed]
    return [sum(row[criterion] for row in each) / sum(row["queries"] for row in each) for each in counted]


def _fallen(shares: Sequence[float]) -> bool:
    """True if a criterion has fallen at some rung after one at which half of the queries passed."""
    return any(high >= 0.5 for high in shares) and any(share <= FALLEN for share in shares)


def _fall(shares: Sequence[float]) -> tuple[int, int] | None:
    """Places of the rungs on both sides of the first fall through one half, in its full width. None without a fall."""
    crossing = next((i for i, (high, low) in enumerate(pairwise(shares)) if high >= 0.5 > low), None)
    if crossing is None:
        return None
    low = next((i for i in range(crossing, -1, -1) if shares[i] >= 1 - FALLEN), 0)
    high = next((i for i in range(crossing + 1, len(shares)) if shares[i] <= FALLEN), crossing + 1)
    return low, high

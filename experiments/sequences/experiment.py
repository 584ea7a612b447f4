"""Sequences: how long a sequence of patterns a network of N spins follows, and what its mistakes are.

A draw is a cyclic sequence of P patterns. From each of them one synchronous step should lead to the next one:

    right      transitions of which every spin is right, of P
    whole      1 if all of them are: the sequence is followed round and round
    bit_error  share of wrong spins over all transitions, which theory knows exactly at every N, P and degree
    overlap    with the first pattern after following the sequence once around, mistakes carried along

Lengths are those at which theory expects given `shares` of whole sequences, bits taken as independent. They are not:
the spins of one step share the overlaps of its pattern with the others, errors cluster, and more sequences are whole.
Published capacities are asymptotic to leading order and lie far from both.
"""

from collections.abc import Iterator, Sequence
from itertools import product

from experiments import contract
from experiments.contract import Cost, Point, Row
from experiments.sequences import measurement, theory
from experiments.sequences.config import LONGEST, Config
from experiments.sequences.figure import panels
from experiments.sequences.summary import summarise
from experiments.shared import grids, loads

__all__ = ["X_AXIS", "Config", "check", "cost", "measure", "panels", "points", "summarise"]

X_AXIS = "patterns"


def _lengths(config: Config, rule: str, neurons: int) -> list[int]:
    """Lengths measured of a rule at a size."""
    length = lambda share: theory.length(rule, neurons, share, LONGEST)
    return loads.counts(config.shares, length, f"degree {rule} at N={neurons}", name="shares")


def check(config: Config) -> None:
    """Check that every rule has a sequence short enough to be measured at each size; else ValueError."""
    for rule in config.degrees:
        if not any(_lengths(config, rule, neurons) for neurons in config.neurons):
            sizes = f"a smaller N, or degrees without {rule}: its sequences are longer than {LONGEST} there"
            raise ValueError(f"neurons must have {sizes}, got {config.neurons}")


def points(config: Config) -> list[Point]:
    """One point per rule, learning, size, correlation, length and drawn sequence."""
    grid = []
    for rule, neurons in product(config.degrees, config.neurons):
        for learning, correlation, num_patterns in product(
            config.learning, config.correlation, _lengths(config, rule, neurons)
        ):
            point = {"degree": rule, "learning": learning, "neurons": neurons}
            point |= {"correlation": correlation, "patterns": num_patterns}
            grid += [point | {"sample": sample} for sample in range(config.samples)]
    return grid


def cost(config: Config) -> Cost:
    """Cost of all drawn sequences: one step from each pattern of the longest, for every rule and size."""
    parts = []
    for rule, neurons in product(config.degrees, config.neurons):
        longest = max(_lengths(config, rule, neurons), default=2)
        curves = len(config.learning) * len(config.correlation) * len(config.shares) * config.samples
        parts.append(Cost(curves, longest * neurons, 20 * curves * longest**2 * neurons))
    return contract.total(parts)


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points."""
    yield from grids.rows(measurement.GRID, config.seed, wanted)

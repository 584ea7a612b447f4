"""Finite-size thresholds of the exponential memory, from sizes that can be enumerated to far beyond any computer.

A typical pattern among M = e^(αN) random ones is queried, clean or with flipped spins, by sampling how many others have
which overlap with it (`hopfield.large.overlap_sampling`), at any M. Two loads α = ln M / N are measured at every size:

    weight   half of the queries give their own pattern more than half of the softmax weight
    spin     a spin is wrong after one step in a quarter of the queries, half-way from memory to chance

At sizes where all patterns can be drawn and passed over they are (`method` enumerated), beside the sampled ones. All
loads of a draw (`sample`) share its patterns and its queries, so that errors of these thresholds are those over draws;
each of the sampled queries has patterns of its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from experiments import contract
from experiments.bounds import Use, decided_by
from experiments.capacity_asymptotic.results import panels, summarise, thresholds
from experiments.columns import Column, shared
from experiments.contract import Cost, Point, Row, grid_axis, option
from experiments.shared import corruptions, draws
from experiments.shared.notes import note
from hopfield.large import counts, overlap_sampling
from hopfield.patterns.sources import Generated
from hopfield.theory.base import flips

__all__ = ["X_AXIS", "Config", "cost", "measure", "panels", "points", "summarise"]

_ENUMERATED = Use("enumerated is not empty", lambda config: bool(config.enumerated))


@dataclass
class Config(contract.Config):
    """Options of the asymptotic capacity experiment."""

    neurons: list[int] = grid_axis([12, 24], "numbers of neurons N, 2 to 1000", least=2, most=1000)
    enumerated: list[int] = option(
        [12],
        "sizes of them at which the patterns are also drawn one by one",
        used_when=decided_by("each has a load of at most 2^24 patterns", "all_enumerated"),
        extends=True,
    )
    corruption: list[float] = option(
        [0.0], "fractions of flipped spins in the start, 0 to 1/2", least=0, below=0.5, nonempty=True, axis=True
    )
    beta: float = option(1.0, "inverse temperature in exp(β ξ·x), above 0", above=0, axis=True)
    around: list[float] = grid_axis(
        [-0.06, -0.03, -0.01, 0.01, 0.03, 0.06],
        "loads to measure at, from the threshold of an infinite system, widened by 1 + 16/N",
        least=-0.5,
        most=0.5,
    )
    sampled_queries: int = option(400, "queries at each load whose overlaps are sampled", least=1)
    samples: int = option(
        8,
        "draws of all patterns at each load, where they are enumerated",
        least=1,
        used_when=_ENUMERATED,
        extends=True,
    )
    queries: int = option(16, "patterns queried in each of those draws", least=1, used_when=_ENUMERATED)

    def __post_init__(self) -> None:
        super().__post_init__()
        for value in self.enumerated:
            if value not in self.neurons:
                raise ValueError(f"enumerated must be some of neurons {self.neurons}, got {value}")


COLUMNS = shared("neurons", "corruption", "beta", "load", "sample", "queries", "entropy") | {
    "method": Column(
        "sampled, each query with patterns of its own, or enumerated, where the queries of a draw share them", kind=str
    ),
    "heavy": Column("queries whose own pattern has more than half of the weight", "count of queries", kind=int),
    "log_odds": Column("median logarithm of the own weight over the sum of the others'"),
    "error": Column("share of wrong spins after one step", "0 to 1"),
}


X_AXIS = "load"
MOST = 2**24
"""Patterns that are enumerated at most."""


def all_enumerated(config: Config) -> bool:
    """True if every size that is to be enumerated has a load at which it can be."""
    sizes = {point["neurons"] for point in points(config) if point["method"] == "enumerated"}
    return sizes == set(config.enumerated)


def cost(config: Config) -> Cost:
    """Cost of the sampled queries, and of counting all patterns of the enumerated draws by their overlaps."""
    most, loads = max(config.neurons), 2 * len(config.corruption) * len(config.around)
    sampled, drawn = loads * len(config.neurons), loads * len(config.enumerated) * config.samples
    queries = config.queries * len(config.corruption)
    counted = (max(config.enumerated, default=0) + 1) ** 2 * queries
    passes = config.samples * len(config.enumerated) * MOST * counted / 32
    return Cost(
        sampled + drawn,
        2 * max(config.sampled_queries * (most + 1), counted),
        50 * sampled * config.sampled_queries * most + passes,
    )


def points(config: Config) -> list[Point]:
    """One point per method, size, start and load near either threshold. Enumeration has one point for each sample."""
    grid = []
    for neurons in config.neurons:
        for flipped in config.corruption:
            centres = thresholds(config.beta, flipped).values()
            loads = {round(c + a * (1 + 16 / neurons), 6) for c in centres for a in config.around}
            few = sorted(load for load in loads if load * neurons <= np.log(2))
            many = sorted(load for load in loads if load * neurons > np.log(MOST) and neurons in config.enumerated)
            for left, why in (
                (few, "no two patterns: left out"),
                (many, "too many patterns to draw one by one: sampled alone"),
            ):
                if left:
                    note(f"loads {', '.join(map(str, left))} at N={neurons} have {why}")
            for load in sorted(loads - set(few)):
                point = {"neurons": neurons, "corruption": corruptions.name(flipped), "beta": config.beta, "load": load}
                grid.append({"method": "sampled", **point, "sample": 0})
                if neurons in config.enumerated and load not in many:
                    grid += [{"method": "enumerated", **point, "sample": i} for i in range(config.samples)]
    return grid


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points. Enumerated points of a draw share one pass over all loads and starts."""
    for point in wanted:
        if point["method"] == "sampled":
            yield point | row_by_sampling(config, point)
    drawn = sorted((point for point in wanted if point["method"] == "enumerated"), key=_draw)
    for (neurons, sample), members in groupby(drawn, key=_draw):
        yield from rows_by_enumeration(config, neurons, sample, list(members))


def _draw(point: Point) -> tuple:
    return point["neurons"], point["sample"]


def row_by_sampling(config: Config, point: Point) -> Row:
    """The row of a point from overlaps that are sampled, whatever the number of patterns."""
    _, flipped = corruptions.parts(point["corruption"])
    parts = [config.seed, point["neurons"], round(flipped * 1e6), round(point["load"] * 1e6)]
    overlaps = overlap_sampling.sample(
        point["neurons"],
        point["load"] * point["neurons"],
        beta=point["beta"],
        flipped=int(flips(flipped, point["neurons"])),
        trials=config.sampled_queries,
        seed=parts,
    )
    return _row(overlaps.log_odds, overlaps.wrong, overlaps.entropy)


def rows_by_enumeration(config: Config, neurons: int, sample: int, wanted: list[Point]) -> Iterator[Row]:
    """Rows of one draw from a single pass over the patterns of its largest load.

    Its queries share their patterns, so that a row has no errors of its own.
    """
    size = {point["load"]: round(np.exp(point["load"] * neurons)) for point in wanted}
    queries = min(config.queries, max(size.values()))
    key = draws.key(config.seed, neurons, sample)
    source = Generated(key, "spins", max(size.values()), neurons)
    targets = np.asarray(source.part(0, queries).rows(0, queries), np.float64)
    starts = {c: _flip_targets(config, targets, c, sample) for c in dict.fromkeys(p["corruption"] for p in wanted)}
    for counted in counts.along(source, np.concatenate(list(starts.values())), sorted(set(size.values()))):
        for point in (point for point in wanted if size[point["load"]] == counted.num_patterns):
            # Its own first patterns are queried, however many more there are at other loads.
            first, own = list(starts).index(point["corruption"]) * queries, min(queries, counted.num_patterns)
            part = counts.Counts(*(x[first : first + own] for x in counted))
            row = _row(*_target_statistics(part, targets[:own], point["beta"]))
            yield point | row | {"log_odds_stderr": None, "error_stderr": None}


def _flip_targets(config: Config, targets: np.ndarray, corruption: str, draw: int) -> np.ndarray:
    """Every target with a fixed number of random spins flipped, which do not depend on how many targets there are."""
    _, amount = corruptions.parts(corruption)
    rng = np.random.default_rng([config.seed, targets.shape[1], draw, round(amount * 1e6)])
    order = rng.permuted(np.tile(np.arange(targets.shape[1]), (config.queries, 1)), axis=1)[: len(targets)]
    return np.where(order < flips(amount, targets.shape[1]), -targets, targets)


def _target_statistics(found: Any, targets: np.ndarray, beta: float) -> tuple[np.ndarray, ...]:
    neurons = targets.shape[1]
    weight = found.target_weight(np.sum(targets * found.queries, axis=1), beta)
    update = found.update(lambda s: np.exp(beta * (s - neurons)))
    return np.log(weight) - np.log1p(-weight), np.mean(update != targets, axis=1), found.entropy(beta)


def _row(log_odds: np.ndarray, wrong: np.ndarray, entropy: np.ndarray) -> Row:
    """Counts, quantiles and means over the queries of a point."""
    ordered, half = np.sort(log_odds), 0.5 * np.sqrt(len(log_odds))
    low, high = (ordered[int(np.clip(len(ordered) / 2 + side * half, 0, len(ordered) - 1))] for side in (-1, 1))
    return {
        "queries": len(log_odds),
        "heavy": int(np.sum(log_odds > 0)),
        "log_odds": float(np.median(log_odds)),
        "log_odds_stderr": float((high - low) / 2),
        "error": float(np.mean(wrong)),
        "error_stderr": float(np.std(wrong) / np.sqrt(len(wrong))),
        "entropy": float(np.mean(entropy)),
    }

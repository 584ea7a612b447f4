"""Queries of the exponential memory at one load: sampled by their overlaps, or among patterns that are enumerated."""

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from experiments.capacity_asymptotic.config import Config
from experiments.contract import Point, Row
from experiments.shared import corruptions
from hopfield.large import counts, overlap_sampling
from hopfield.patterns.sources import generated
from hopfield.theory.base import flips


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
    key = jax.random.fold_in(jax.random.fold_in(jax.random.key(config.seed), neurons), sample)
    source = generated(key, "spins", max(size.values()), neurons)
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

"""Scales of the capacity experiment: sizes, loads, samples and starts, common to all memories or a memory's own."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from experiments.capacity import bracket
from experiments.capacity.config import Config, Parity, Scale
from experiments.contract import Cost, Point, Row
from experiments.shared import draws, loads, pattern_sets, precedence, retention, spellings
from hopfield.memories import TooManyPatterns, find
from hopfield.patterns import corruption

CURVE = ["memory", "dynamics", "corruption", "ensemble", "neurons"]
"""Columns that tell curves apart."""


@dataclass(frozen=True)
class FullScale:
    """Full scale that a memory is measured at: a `Scale` without nulls but for β, and for loads, patterns or both."""

    neurons: Sequence[int]
    loads: Sequence[float] | None
    patterns: Sequence[int] | None
    samples: int | dict[int, int]
    between: dict[int, list[float]]
    queries: int
    dynamics: Sequence[str]
    corruption: Sequence[Any]
    beta: float | None
    max_steps: int
    parity: Parity

    @property
    def bracketed(self) -> bool:
        """True if loads are looked for, as none are given."""
        return self.loads is None and self.patterns is None


def scale_of(config: Config, memory: str) -> FullScale:
    """Scale that one memory is measured at: common values if given, else the memory's own, else what suits its scaling.

    Raises:
        ValueError: a layer gives both loads and patterns.
    """
    given = config, spellings.entry(config.per_memory, memory) or Scale()
    for layer in given:
        if layer.loads is not None and layer.patterns is not None:
            raise ValueError("loads must not be given together with patterns, which says the same in numbers")
        if layer.parity is not None and layer.patterns is not None:
            raise ValueError("parity must not be given together with patterns, whose numbers are taken as they are")
    scale = precedence.full_options(FullScale, Scale, *given)
    # Loads and patterns are two ways to say one thing: whichever comes first silences the other below it.
    first = next((layer for layer in given if layer.loads is not None or layer.patterns is not None), scale)
    scale = replace(scale, loads=first.loads, patterns=first.patterns)
    passed = all(map(pattern_sets.is_streamed, config.ensembles))  # one update answers all queries of a pass
    dynamics = scale.dynamics or ("synchronous" if passed else draws.usual_dynamics(memory),)
    return replace(scale, neurons=scale.neurons or bracket.sizes(memory), dynamics=dynamics)


def by_memory(config: Config) -> dict[str, FullScale]:
    """The numbers that every memory is measured at, by its name, each once."""
    return {memory: scale_of(config, memory) for memory in config.memories}


def widths(scale: FullScale, ensemble: str) -> Sequence[int]:
    """Numbers of neurons to measure an ensemble at."""
    return scale.neurons if ensemble in pattern_sets.DRAWN else [pattern_sets.shape(ensemble)[1]]


def samples(scale: FullScale, neurons: int) -> int:
    """Number of disorder samples at this size."""
    return loads.samples_at(scale.samples, neurons)


def num_queries(scale: FullScale, num_patterns: int) -> int:
    """Number of patterns, of `num_patterns` in a sample, that are queried."""
    return min(scale.queries, num_patterns)


def pattern_counts(scale: FullScale, memory: str, neurons: int, ensemble: str = pattern_sets.RANDOM) -> list[int]:
    """Numbers of patterns M in ascending order: `patterns` as given, or the loads rounded to the scale's parity.

    Without either, those from which the loads are looked for.
    """
    if scale.patterns is not None:
        return sorted(scale.patterns)
    if scale.bracketed:
        return bracket.first(memory, neurons, scale.parity.name, held(ensemble))
    blueprint = find(memory)
    try:
        number = partial(blueprint.rounded, neurons=neurons, parity=scale.parity.name)
        asked = loads.loads_at(scale.loads or [], scale.between, neurons)
        return loads.counts(asked, number, f"{memory} at N={neurons}")
    except TooManyPatterns:
        raise ValueError(f"loads must give {memory} of N={neurons} fewer than 2^30 / N, got more than e^700") from None


def held(ensemble: str) -> int:
    """Number of patterns that an ensemble has: more than there can be where they are drawn."""
    return 2**40 if ensemble in pattern_sets.DRAWN else pattern_sets.shape(ensemble)[0]


def further(scale: FullScale, curve: Point, rows: Sequence[Row]) -> tuple[list[int], int]:
    """Numbers of patterns that a bracketed curve is measured at next, given its rows so far, and their samples."""
    neurons = curve["neurons"]
    found = bracket.further(curve["memory"], neurons, scale.parity.name, held(curve["ensemble"]), rows)
    return found[0], samples(scale, neurons) if found[1] else coarse_samples(scale, neurons)


def coarse_samples(scale: FullScale, neurons: int) -> int:
    """Number of disorder samples at this size of the numbers of patterns that are given, or that come first."""
    several = samples(scale, neurons)
    return min(several, bracket.SAMPLES) if scale.bracketed else several


def in_words(scale: FullScale) -> str:
    """Words for how a memory is measured: dynamics, sizes, samples, queries and parity of M."""
    parity = "odd and even" if scale.parity is Parity.any else scale.parity.name
    sizes = f"N={', '.join(map(str, scale.neurons))}"
    drawn = f"{scale.samples} samples of {scale.queries} queries"
    return f"{' and '.join(scale.dynamics)}, {sizes}, {drawn}, {parity} M where fields are integers"


def columns_of(point: Point) -> Row:
    """Columns of a point that are known before it is measured: its load and the parity of its number of patterns."""
    load = find(point["memory"]).scaling.load(point["patterns"], point["neurons"])
    return {"load": load, "parity": "odd" if point["patterns"] % 2 else "even"}


def check(scale: FullScale, memory: str) -> None:
    """Check that a memory can be measured at a scale; else ValueError."""
    for spec in scale.corruption:
        corruption(spec)
    draws.check(memory, scale.dynamics, scale.beta)


def check_ensemble(scale: FullScale, memory: str, ensemble: str, neurons: list[int] | None) -> None:
    """Check that an ensemble has the numbers of patterns, samples and neurons; else ValueError.

    Args:
        neurons: the common numbers of neurons, which an ensemble that is not random must have.
    """
    if ensemble not in pattern_sets.DRAWN:
        _check_held(scale, memory, ensemble, neurons)
    for size in widths(scale, ensemble):
        counts = pattern_counts(scale, memory, size, ensemble)
        curves = len(scale.dynamics) * len(scale.corruption) * len(counts)
        if curves * samples(scale, size) > 10**7:
            raise ValueError(f"samples must leave at most 10^7 points for {memory} of N={size}, got {scale.samples}")
        most = max(counts, default=0)
        if not most:
            raise ValueError(f"between must leave loads for {memory} of N={size}, got {scale.between}")
        if most * size > 2**30 and not pattern_sets.is_streamed(ensemble):
            raise ValueError(f"{_count(scale)} must give {memory} of N={size} fewer than 2^30 / N, got {most:.3g}")
        if most > 2**40:
            raise ValueError(f"{_count(scale)} must give {memory} of N={size} at most 2^40 patterns, got {most:.3g}")


def cost(scale: FullScale, memory: str, ensemble: str, neurons: int) -> Cost:
    """Cost of a memory at one size: stored patterns and couplings, or counts by overlap and bit."""
    counts = pattern_counts(scale, memory, neurons, ensemble)
    starts, drawn, most = len(scale.dynamics) * len(scale.corruption), samples(scale, neurons), max(counts)
    points, queries = starts * drawn * len(counts), num_queries(scale, most)
    if pattern_sets.is_streamed(ensemble):
        return Cost(points, queries * starts * (neurons + 1) ** 2, 2 * drawn * most * queries * starts * neurons**2)
    dense = retention.coupled(memory) and not all(retention.packed(memory, way) for way in scale.dynamics)
    elements = max(most * neurons, queries * most, neurons**2 if dense else 0)
    each = sum(retention.row_cost(memory, dynamics, neurons, queries) for dynamics in scale.dynamics)
    programs = 2 * starts  # of few patterns and of many
    return Cost(points, elements, len(scale.corruption) * drawn * sum(counts) * each, programs)


def _count(scale: FullScale) -> str:
    """Name of the option that says how many patterns there are."""
    return "loads" if scale.patterns is None else "patterns"


def _check_held(scale: FullScale, memory: str, ensemble: str, neurons: list[int] | None) -> None:
    """Check that a file or set of images has the patterns, the samples and just the neurons; else ValueError."""
    if ensemble.startswith(pattern_sets.MAPPED):
        pattern_sets.check_spins(ensemble)
    rows, width = pattern_sets.shape(ensemble)
    if neurons is not None and set(neurons) != {width}:
        raise ValueError(f"neurons must be {width} for the patterns of {ensemble}, got {neurons}")
    most = max(pattern_counts(scale, memory, width, ensemble))
    if most > rows:
        raise ValueError(f"{_count(scale)} must be at most the {rows} patterns of {ensemble}, got {most} for {memory}")
    if pattern_sets.is_streamed(ensemble) and samples(scale, width) != 1:
        raise ValueError(f"samples must be 1 for {ensemble}, whose patterns are always the same, got {scale.samples}")

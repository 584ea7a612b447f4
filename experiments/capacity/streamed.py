"""Streamed patterns, never stored: one pass gives one step of every memory, from every start, at every number of them.

A pass counts the patterns by overlap and bit (`hopfield.large.counts`), which answers every separation at every β. Sums
over patterns grow with M, so that the pass over the most patterns gives all smaller M on its way. Counts are whole
numbers: the pieces of a pass add up to the same, to the last digit, wherever it is cut and whoever counts.
"""

import base64
import zlib
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from experiments.capacity import scales
from experiments.contract import Point, Row
from experiments.shared import corruptions, pattern_sets, retention, streams
from hopfield import Memory
from hopfield.large import counts, mesh
from hopfield.observables.overlaps import above
from hopfield.patterns.sources import Source

WORK = 2**40
"""Patterns × queries × N² of a piece: about ten seconds of two cores."""
SHARE = 64
"""Pieces lengthen along a pass, to this part of the patterns before them, so that their number grows as ln M."""


def check(memory: str, dynamics: Sequence[str], max_steps: int, clamp: bool) -> None:
    """Check that one pass can measure a memory with these dynamics; else ValueError."""
    streams.check_memory(memory)
    if tuple(dynamics) != ("synchronous",) or max_steps != 1:
        options = f"dynamics={list(dynamics)} max_steps={max_steps}"
        raise ValueError(
            f"dynamics must be one synchronous step (max_steps=1) for patterns that are not stored, got {options}"
        )
    if clamp:
        raise ValueError("clamp must be false for patterns that are not stored, got true")


def pieces(points: Sequence[Point], wanted: Sequence[Point]) -> list[Point]:
    """The pieces of the passes behind wanted points, cut as all points of the run say, whatever is measured already."""
    most: dict[tuple, int] = {}
    for point in wanted:
        most[_draw(point)] = max(most.get(_draw(point), 0), point["patterns"])
    work = []
    for draw, members in _draws([point for point in points if _draw(point) in most]):
        starts = sorted({corruptions.CLEAN, *(point["corruption"] for point in members)})
        ensemble, neurons, sample = draw
        queries = max(point["queries"] for point in members)
        shared = {"ensemble": ensemble, "neurons": neurons, "sample": sample, "starts": starts, "queries": queries}
        length = max(1, WORK // (len(starts) * queries * neurons**2))
        cuts = _cuts(length, sorted({point["patterns"] for point in members}))
        work += [shared | {"first": first, "stop": stop} for first, stop in cuts if stop <= most[draw]]
    return work


def _cuts(length: int, sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First pattern and end of every piece. Pieces end at every size and at multiples of a power of two."""
    first = 0
    for size in sizes:
        while first < size:
            step = 2 ** (max(length, first // SHARE).bit_length() - 1)
            stop = min(size, (first // step + 1) * step)
            yield first, stop
            first = stop


def measure_piece(seed: int, piece: Point) -> Row:
    """Row of a piece of a pass: its patterns by overlap and bit, and by overlap, packed into text."""
    drawn, _, queries = _source(seed, piece, piece["stop"])
    devices = None if piece["ensemble"].startswith(pattern_sets.MAPPED) else mesh.device_mesh()
    stacked = np.concatenate(list(queries.values()))
    counted = next(counts.along(drawn, stacked, [piece["stop"]], first=piece["first"], mesh=devices))
    whole = np.concatenate([counted.up, counted.number[:, :, None]], axis=2).astype("<i8")
    return piece | {"counts": base64.b64encode(zlib.compress(whole.tobytes(), 1)).decode("ascii")}


def rows(seed: int, points: Sequence[Point], done: Sequence[Row]) -> Iterator[Row]:
    """One row per point of the capacity experiment, pass after pass, in ascending number of patterns.

    Args:
        seed: seed of all randomness.
        points: those to measure.
        done: rows of the pieces of their passes.
    """
    parts = {draw: list(members) for draw, members in groupby(done, key=_draw)}
    for draw, members in _draws(points):
        yield from _pass(seed, members, parts[draw])


def _draw(point: Point) -> tuple[str, int, int]:
    return point["ensemble"], point["neurons"], point["sample"]


def _draws(points: Sequence[Point]) -> Iterator[tuple[tuple, list[Point]]]:
    """Draws, each with its points in ascending order of their numbers of patterns."""
    ordered = sorted(points, key=lambda point: (*_draw(point), point["patterns"]))
    for draw, members in groupby(ordered, key=_draw):
        yield draw, list(members)


def _source(seed: int, piece: Point, num_patterns: int) -> tuple[Source, np.ndarray, dict[str, np.ndarray]]:
    """Patterns of a piece's pass, targets among them, and the queries by start."""
    return streams.draw_with_queries(seed, *_draw(piece), num_patterns, piece["queries"], piece["starts"])


def _pass(seed: int, points: list[Point], parts: list[Row]) -> Iterator[Row]:
    count = parts[0]["queries"]
    drawn, targets, queries = _source(seed, parts[0], max(point["patterns"] for point in points))
    memories = {(p["memory"], p["beta"]): streams.build(p["memory"], drawn, p["beta"]) for p in points}
    stacked = np.concatenate(list(queries.values()))
    shape = len(stacked), stacked.shape[1] + 1, stacked.shape[1] + 1
    total = np.zeros(shape, np.int64)
    for part in parts:
        total += np.frombuffer(zlib.decompress(base64.b64decode(part["counts"])), "<i8").reshape(shape)
        of: dict[str, Any] = {}
        for i, name in enumerate(queries):
            own = slice(i * count, (i + 1) * count)
            of[name] = counts.Counts(stacked[own], total[own, :, -1], total[own, :, :-1])
        for point in points:
            if point["patterns"] == part["stop"]:
                yield point | _outcome(point, memories[point["memory"], point["beta"]], of, targets)


def _outcome(point: Point, memory: Memory, counted: dict, targets: np.ndarray) -> Row:
    """Columns of the capacity table for one point. The state after one step counts as the final state."""
    at_start, used = counted[point["corruption"]], slice(0, point["queries"])
    target, begun = targets[used], at_start.queries[used]
    state = at_start.update(memory)[used]
    share = at_start.shares(np.sum(targets * at_start.queries, axis=1), memory)[used]
    overlap, moved = np.mean(state * target, axis=1), np.any(state != begun, axis=1)
    outcome = {name: above(overlap, cut) for name, cut in retention.CUTS.items()} | {
        "exact": np.all(state == target, axis=1),
        "cycles": np.zeros(len(state), bool),
        "step_limit": moved,
        "fixed_point": np.all(counted[corruptions.CLEAN].update(memory)[used] == target, axis=1),
        "target_weight": above(share, 0.5),  # the weights after the step would need another pass
        "overlap": overlap,
        "one_step_error": state != target,
        "steps": moved,
    }
    counts = (*retention.COUNTS, *retention.WEIGHTS)
    return scales.columns_of(point) | streams.columns(outcome, counts, retention.MEANS, retention.KEPT, by="retained")

"""Streamed patterns, never stored: one pass gives one step of every memory, from every start, at every number of them.

A pass counts the patterns by overlap and bit (`hopfield.large.counts`), which answers every separation at every β. Sums
over patterns grow with M, so that the pass over the most patterns gives all smaller M on its way.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from experiments.capacity import scale
from experiments.shared import corruptions, draws, pattern_sets, retention, streams
from hopfield import Memory
from hopfield.large import counts, mesh


def check(memory: str, dynamics: Sequence[str], max_steps: int, clamp: bool) -> None:
    """Refuse what one pass cannot measure, in one sentence."""
    streams.check_memory(memory)
    if tuple(dynamics) != ("synchronous",) or max_steps != 1:
        given = f"dynamics={list(dynamics)} max_steps={max_steps}"
        raise ValueError(
            f"dynamics must be one synchronous step (max_steps=1) for patterns that are not stored, got {given}"
        )
    if clamp:
        raise ValueError("clamp must be false for patterns that are not stored, got true")


def rows(seed: int, points: Sequence[dict]) -> Iterator[dict]:
    """One row per point of the capacity experiment, pass after pass; rows of few patterns come before those of many."""
    ordered = sorted(points, key=lambda point: (*_draw(point), point["patterns"]))
    for _, members in groupby(ordered, key=_draw):
        yield from _pass(seed, list(members))


def _draw(point: dict) -> tuple:
    return point["ensemble"], point["neurons"], point["sample"]


def _pass(seed: int, points: list[dict]) -> Iterator[dict]:
    most = max(point["patterns"] for point in points)
    ensemble, count = _draw(points[0])[0], max(point["queries"] for point in points)
    # M is no part of the key: the first patterns of a larger memory are those of a smaller one.
    pattern_key, query_key = draws.keys(seed, points[0]["neurons"], 0, points[0]["sample"])
    drawn = pattern_sets.stream(ensemble, pattern_key, most, points[0]["neurons"])
    targets = np.asarray(drawn.part(0, count).rows(0, count), np.float64)
    starts = dict.fromkeys([corruptions.CLEAN, *(point["corruption"] for point in points)])
    queries = {name: streams.start(*corruptions.parts(name), query_key, targets) for name in starts}
    sizes = [point["patterns"] for point in points]
    stacked = np.concatenate(list(queries.values()))
    devices = None if ensemble.startswith(pattern_sets.MAPPED) else mesh.device_mesh()
    memories = {(p["memory"], p["beta"]): streams.build(p["memory"], drawn, p["beta"]) for p in points}
    for found in counts.along(drawn, stacked, sizes, mesh=devices):
        of = {}
        for i, name in enumerate(queries):
            of[name] = counts.Counts(*(part[i * count : (i + 1) * count] for part in found))
        for point in points:
            if point["patterns"] == found.num_patterns:
                yield point | _outcome(point, memories[point["memory"], point["beta"]], of, targets)


def _outcome(point: dict, memory: Memory, counted: dict, targets) -> dict:
    """The columns of the capacity table; where one step leads is where the dynamics end."""
    found, used = counted[point["corruption"]], slice(0, point["queries"])
    target, begun = targets[used], found.queries[used]
    state = found.update(memory)[used]
    share = found.shares(np.sum(targets * found.queries, axis=1), memory)[used]
    overlap = np.mean(state * target, axis=1)
    retained = overlap > retention.CUTS["retained"]
    return {
        **scale.counted(point),
        **{name: int(np.sum(overlap > cut)) for name, cut in retention.CUTS.items()},
        "exact": int(np.sum(np.all(state == target, axis=1))),
        "cycles": 0,
        "fixed_point": int(np.sum(np.all(counted[corruptions.CLEAN].update(memory)[used] == target, axis=1))),
        "target_weight": int(np.sum(share > 0.5)),
        "converged_weight": None,  # the weights after the step would need another pass
        "overlap": float(np.mean(overlap)),
        "one_step_error": float(np.mean(state != target)),
        "steps": float(np.mean(np.any(state != begun, axis=1))),
        "overlap_retained": float(np.mean(overlap[retained])) if retained.any() else None,
    }

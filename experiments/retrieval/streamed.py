"""Retrieval against β from random spins that are never stored: every pass serves all memories, β and starts at once.

A pass counts the patterns by overlap and bit with every state that some query has come to (`large.counts`), which
gives each memory's update at each β and the weights there. Queries that have met share their passes; those that are at
rest need none.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments.contract import Point, Row
from experiments.shared import pattern_sets, retrievals, streams
from hopfield import Memory
from hopfield.dynamics.settling import CYCLE, STEP_LIMIT, alike, settled
from hopfield.large import counts, while_outside
from hopfield.observables.overlaps import above

TOGETHER = 256
"""States of one pass at most."""


@dataclass
class Query:
    """Query: its start, its present state, the number of its moves, and its end as an index of `dynamics.STATUS`."""

    point: Point
    target: int
    start: np.ndarray
    state: np.ndarray
    steps: int = 0
    status: int = STEP_LIMIT


@dataclass
class Passes:
    """Counts of all states met so far. `at` fills in missing states with as few passes as possible."""

    source: Any
    known: dict[bytes, counts.Counts] = field(default_factory=dict)

    def at(self, states: Sequence[np.ndarray]) -> list[counts.Counts]:
        """Counts of the given states, one for each."""
        new = {state.tobytes(): state for state in states if state.tobytes() not in self.known}
        keys = list(new)
        for i in range(0, len(keys), TOGETHER):
            part = keys[i : i + TOGETHER]
            found = counts.count(self.source, np.stack([new[key] for key in part]))
            for j, key in enumerate(part):
                self.known[key] = counts.Counts(*(x[j : j + 1] for x in found))
        return [self.known[state.tobytes()] for state in states]


def rows(seed: int, points: Sequence[Point]) -> Iterator[Row]:
    """One row for each point of the retrieval experiment with an ensemble that is not stored."""
    ordered = sorted(points, key=_draw)
    for draw, members in groupby(ordered, key=_draw):
        yield from _rows_of_draw(seed, draw, list(members))


def _draw(point: Point) -> tuple[int, int, int]:
    return point["neurons"], point["sample"], point["patterns"]


def _rows_of_draw(seed: int, draw: tuple[int, int, int], points: list[Point]) -> Iterator[Row]:
    most, starts = max(point["queries"] for point in points), {point["corruption"] for point in points}
    source, targets, begun = streams.draw_with_queries(seed, pattern_sets.GENERATED, *draw, most, starts)
    passes = Passes(source)
    queries = []
    for point in points:
        for i in range(point["queries"]):
            start = begun[point["corruption"]][i]
            queries.append(Query(point, i, start, start))
    beta = lambda point: retrievals.beta(*(point[name] for name in ("memory", "kappa", "neurons")))
    memories = {_memory_key(p): streams.build(p["memory"], source, beta(p)) for p in points}
    _settle(passes, queries, memories)
    for _, members in groupby(queries, key=lambda query: id(query.point)):
        yield _row(passes, list(members), targets, memories)


def _settle(passes: Passes, queries: list[Query], memories: dict) -> None:
    """Synchronous updates of all queries until each is at rest, in a 2-cycle, or has moved max_steps times."""
    for most in {query.point["max_steps"] for query in queries}:
        members = [query for query in queries if query.point["max_steps"] == most]
        update = partial(_step_each, passes, [memories[_memory_key(query.point)] for query in members])
        start = jnp.asarray(np.stack([query.start for query in members]))
        end = settled(update, start, most, alike, cycles=True, loop=while_outside)
        for query, state, steps, status in zip(members, *map(np.asarray, end), strict=True):
            query.state, query.steps, query.status = state.astype(np.float64), int(steps), int(status)


def _step_each(passes: Passes, memories: list[Memory], states: Array) -> Array:
    """One update of every state, each in the memory of its query."""
    counted = passes.at(list(np.asarray(states, np.float64)))
    new = [found.update(memory)[0] for found, memory in zip(counted, memories, strict=True)]
    return jnp.asarray(np.stack(new), states.dtype)


def _memory_key(point: Point) -> tuple:
    return point["memory"], point["kappa"]


def _row(passes: Passes, queries: list[Query], targets: np.ndarray, memories: dict) -> Row:
    point = queries[0].point
    memory, target = memories[_memory_key(point)], targets[[query.target for query in queries]]
    begun, ended = (passes.at([getattr(query, place) for query in queries]) for place in ("start", "state"))
    start, end = (np.mean(np.stack([one.queries[0] for one in counted]) * target, axis=1) for counted in (begun, ended))

    first = np.stack([one.update(memory)[0] for one in begun])
    updated = passes.at(list(first))

    def weight(counted: list[counts.Counts], overlaps: np.ndarray) -> np.ndarray:
        pairs = zip(counted, overlaps, strict=True)
        return np.array([one.shares(point["neurons"] * overlap, memory)[0] for one, overlap in pairs])

    status = np.array([query.status for query in queries])
    outcome = {
        "start_weight": weight(begun, start),
        "first_weight": weight(updated, np.mean(first * target, axis=1)),
        "one_step_overlap": np.mean(first * target, axis=1),
        "target_weight": (held := weight(ended, end)),
        "success": above(held, 0.5),
        "overlap": end,
        "entropy": np.array([one.share_entropy(memory)[0] for one in ended]),
        "steps": np.array([query.steps for query in queries]),
        "step_limit": status == STEP_LIMIT,
        "cycles": status == CYCLE,
    }
    return point | streams.columns(outcome, retrievals.COUNTS, retrievals.MEANS, retrievals.KEPT, by="success")

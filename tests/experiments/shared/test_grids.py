"""Grids of points through compiled programs: each point one row, whatever is padded, cut and compiled on the way."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from experiments.shared import grids
from experiments.shared.grids import Grid


class Kind(NamedTuple):
    """A structure of its own per name."""

    name: str
    cost: float = 1.0


TRACED: list[tuple[str, int]] = []


def one(kind, seed, data, draw, each):
    """Something of every number a point has; the square root of a negative one is none."""
    TRACED.append((kind.name, each["beta"].size))
    noise = jax.random.uniform(jax.random.fold_in(jax.random.key(seed), draw["sample"]))
    total = data["offset"] + 100 * draw["patterns"] + each["beta"]
    return {"total": total, "noise": jnp.broadcast_to(noise, each["beta"].shape), "root": jnp.sqrt(each["beta"] - 2.5)}


GRID = Grid(
    lambda point: Kind(point["memory"]),
    one,
    draw={"patterns": np.uint32, "sample": np.uint32},
    each={"beta": (np.float32, lambda point: point["beta"])},
    together=lambda kind: 2,
    most=2,
)
POINTS = [
    {"memory": memory, "patterns": patterns, "sample": sample, "beta": beta}
    for beta in (1.0, 2.0, 3.0)
    for sample in (0, 1, 2)
    for patterns in (3, 5)
    for memory in ("b", "a")
]


def measured(points, **options):
    offset = {"a": 0.0, "b": 0.5}
    return list(grids.rows(GRID, 7, points, lambda kind: {"offset": np.float32(offset[kind.name])}, **options))


def test_every_point_has_one_row_with_its_own_numbers():
    rows = measured(POINTS, known_columns=lambda point: {"load": point["patterns"] / 10})
    assert len(rows) == len(POINTS)
    assert {tuple(row[name] for name in POINTS[0]) for row in rows} == {tuple(point.values()) for point in POINTS}
    for row in rows:
        assert row["load"] == row["patterns"] / 10
        assert row["total"] == 0.5 * (row["memory"] == "b") + 100 * row["patterns"] + row["beta"]


def test_a_row_does_not_depend_on_what_else_is_measured():
    together = {tuple(row[name] for name in POINTS[0]): row for row in measured(POINTS)}
    for point in POINTS[::5]:
        assert measured([point]) == [together[tuple(point.values())]]


def test_a_program_is_traced_once_however_many_points_it_serves():
    grids._compiled.cache_clear()
    TRACED.clear()
    measured(POINTS)
    assert sorted(TRACED) == [("a", 2), ("b", 2)]

"""Compiled grids: from the points of an experiment to rows of its table, through one program for each structure.

An experiment says how one draw is measured, `one(program, seed, data, draw, each) -> Measured`, a single example that
JAX traces; this module sorts its points, gathers those that share a draw, cuts them into equal calls of up to a second,
fills the last of each program up with repetitions, compiles once per program, and takes the results apart again. On a
CPU the draws of a call follow each other, with as many calls at a time as there are cores; on an accelerator they stand
side by side, as many as its memory holds, divided among all devices.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from typing import Any, NamedTuple, Protocol

import jax
import numpy as np
from jax.sharding import Mesh, PartitionSpec
from jax.typing import ArrayLike
from jaxtyping import Array

from experiments.contract import Cost, InputError, Point, Row, total
from experiments.shared import compiling, hardware, parallel
from experiments.shared.hardware import LANES, Hardware
from experiments.shared.traced import Traced, arrays, values

Draw = dict[str, Any]
"""Numbers of one draw by name, traced scalars. None for one that its points lack, as β for memories without one."""
Each = dict[str, Array]
"""Numbers [T] that tell the points of one draw from each other, by name. Empty where a draw is one point."""
Data = Array | None
"""Patterns [rows, N], real ones, that a program's draws take theirs from. None where they are random."""
Measured = Mapping[str, ArrayLike]
"""Columns that are measured of one draw by name: scalars, or arrays [T] where `Each` has numbers."""
Measurement = Callable[[Any, Array, Any, Draw, Each], Measured]
"""Measurement of one draw that JAX traces: `one(program, seed, data, draw, each)`, `data` of any form."""


class Program(Protocol):
    """Structure of a compiled measurement, as a named tuple of its static values."""

    @property
    def cost(self) -> float:
        """Rough multiplications of one draw."""
        ...

    def __hash__(self) -> int: ...


class PaddedProgram(Program, Protocol):
    """Program whose draws hold patterns, padded to a number of rows that serves many loads."""

    @property
    def padding(self) -> int:
        """Number of rows that patterns are padded to. The first rows are stored."""
        ...


@dataclass(frozen=True)
class Grid:
    """Grid by which the points of an experiment become calls to the device.

    Attributes:
        program: what is compiled for a point.
        one: measures one draw, `one(program, seed, data, draw, each)`.
        draw: columns that are the same for all points of a draw, by name; None where a point has no such number, as β
            for memories without one.
        each: columns that tell the points of one draw from each other.
        together: gives T for a program, how many points of one draw are measured in one go.
        most: draws of one call at most; of one to an accelerator `LANES` times as many, here and below.
        call_cost: multiplications one call should cost: a second or less, so that a kill loses little.
        whole: whether all calls have as many draws as the cost allows, and T points each, however few there are to
            measure, so that points that come later need no other program.
    """

    program: Callable[[Point], Program]
    one: Measurement
    draw: Mapping[str, Traced]
    each: Mapping[str, Traced] = field(default_factory=dict)
    together: Callable[[Any], int] = lambda program: 1
    most: int = 64
    call_cost: float = 5e8
    whole: bool = False


def rows(
    grid: Grid,
    seed: int,
    points: Sequence[Point],
    data: Callable[[Any], Any] = lambda program: None,
    known_columns: Callable[[Point], Row] = lambda point: {},
) -> Iterator[Row]:
    """One row per point, in the order in which calls end: the point, its known columns, and its measurement.

    Args:
        grid: how points become calls.
        seed: seed of all randomness.
        points: those to measure.
        data: arrays that a program's draws take their patterns from; None where they are random.
        known_columns: what is known of a point before it is measured, which follows it in its row.
    """
    queues: dict[tuple, list[list[Point]]] = {}
    for (program, *numbers), members in _draws(grid, points):
        length, kind = grid.together(program), (program, *(number is None for number in numbers))
        queues.setdefault(kind, []).extend(members[i : i + length] for i in range(0, len(members), length))
    longest = sorted(queues.items(), key=lambda entry: -entry[0][0].cost * len(entry[1]))
    batches = [_Batch(grid, program, seed, queue, data, known_columns) for (program, *_), queue in longest]
    used = hardware.current()
    if used.side_by_side:  # all are compiled first, as many at a time as there are cores
        fitted = dict(parallel.rows([partial(_fitted, number, batch, used) for number, batch in enumerate(batches)]))
        measures = [fitted[number] for number in range(len(batches))]
        hardware.say(max((size for _, size in measures), default=0))
    else:
        measures = [(_compiled(grid.one, batch.program, used), _draws_of_a_call(batch, used)) for batch in batches]
    calls = [
        [partial(_call, batch, measure, batch.queue[i : i + size], size) for i in range(0, len(batch.queue), size)]
        for batch, (measure, size) in zip(batches, measures, strict=True)
    ]
    # The first calls of all programs come first: while one core compiles a program, another compiles the next.
    yield from parallel.rows(call for turn in zip_longest(*calls) for call in turn if call is not None)


def cost(grid: Grid, networks: Iterable[Point], drawn: int) -> Cost:
    """Cost of `drawn` draws of each network. The grid's programs are `PaddedProgram`s with a number of `neurons`."""
    size = lambda kind: max(kind.padding, kind.neurons) * kind.neurons
    kinds: list[Any] = list(map(grid.program, networks))
    whole = total(Cost(drawn * grid.together(kind), size(kind), drawn * kind.cost) for kind in kinds)
    return whole._replace(programs=len(set(kinds)))


def run_program(one: Measurement, program: Any, seed: int, data: Any, draw: Draw, each: Each) -> dict[str, list]:
    """Measurements of one call by name, lists [S] or [S][T], from arrays [S] in `draw` and [S, T] in `each`."""
    return _run(_compiled(one, program, hardware.current()), seed, data, draw, each)


def _run(measure: Callable, seed: int, data: Any, draw: Draw, each: Each) -> dict[str, list]:
    columns = jax.device_get(measure(np.uint32(seed), data, draw, each))
    return {name: values.tolist() for name, values in columns.items()}


class _Batch(NamedTuple):
    """Draws of one program, each with its points, and what is needed to measure them."""

    grid: Grid
    program: Any
    seed: int
    queue: list[list[Point]]
    data: Callable[[Any], Any]
    known_columns: Callable[[Point], Row]

    @property
    def length(self) -> int:
        """Number of points T that are measured of one draw in one go."""
        return self.grid.together(self.program) if self.grid.whole else max(map(len, self.queue))

    def numbers(self, groups: list[list[Point]], size: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """Numbers of `size` draws and their points. Repetitions fill them up to the shape [S, T]."""
        padded = groups + [groups[0]] * (size - len(groups))
        squares = [group + group[-1:] * (self.length - len(group)) for group in padded]
        draw = arrays(self.grid.draw, [group[0] for group in padded], (size,))
        return draw, arrays(self.grid.each, [point for group in squares for point in group], (size, self.length))


def _draws_of_a_call(batch: _Batch, used: Hardware) -> int:
    """Draws S of each call: as many as their cost allows, divided equally among the calls."""
    lanes, count = LANES if used.side_by_side else 1, len(used.devices)
    most = max(1, int(min(batch.grid.most * lanes, batch.grid.call_cost * lanes // max(batch.program.cost, 1.0))))
    waiting = len(batch.queue)
    size = most if batch.grid.whole else -(-waiting // -(-waiting // most))
    return -(-size // count) * count


def _fitted(number: int, batch: _Batch, used: Hardware) -> list[tuple[int, tuple[Callable, int]]]:
    """Compiled program of a batch and its draws S, as many as memory holds by the program's own plan, by a number."""
    size, count = _draws_of_a_call(batch, used), len(used.devices)
    measure, data, memory = _compiled(batch.grid.one, batch.program, used), batch.data(batch.program), used.memory()
    while True:
        numbers = batch.numbers(batch.queue[:size], size)
        compiled = measure.lower(np.uint32(batch.seed), data, *numbers).compile()
        plan = compiled.memory_analysis()
        needed = plan.temp_size_in_bytes + plan.argument_size_in_bytes + plan.output_size_in_bytes
        if needed <= memory or size == count:
            return [(number, (compiled, size))]
        size = max(1, int(0.9 * size * memory / needed) // count) * count


def _draws(grid: Grid, points: Sequence[Point]) -> list[tuple[tuple, list[Point]]]:
    """Draws, each a program with the draw's numbers, and their points, in an order independent of the points' order."""
    draws: dict[tuple, list[Point]] = {}
    for point in points:
        key = (grid.program(point), *values(grid.draw, point).values())
        draws.setdefault(key, []).append(point)
    return sorted(draws.items(), key=lambda draw: repr(draw[0]))


def _call(batch: _Batch, measure: Callable, groups: list[list[Point]], size: int) -> list[Row]:
    """Rows of one call for groups of points that share a draw."""
    draw, each = batch.numbers(groups, size)
    columns = _run(measure, batch.seed, batch.data(batch.program), draw, each)
    _check_shapes(batch.grid, columns, batch.length)
    rows = []
    for i, group in enumerate(groups):
        for j, point in enumerate(group):
            row = point | batch.known_columns(point)
            if taken := sorted(columns.keys() & row.keys()):
                raise InputError(f"names of a measurement must be new to its point, got {', '.join(taken)}")
            measured = {name: values[i][j] if each else values[i] for name, values in columns.items()}
            rows.append(row | {name: _null_for_nan(value) for name, value in measured.items()})
    return rows


def _check_shapes(grid: Grid, columns: Mapping[str, list], length: int) -> None:
    """Check that `grid.one` measures a number, or an array [T] where `each` names a column; else InputError."""
    for name, (first, *_) in columns.items():
        got = f"an array of {len(first)}" if isinstance(first, list) else "a number"
        if grid.each and not (isinstance(first, list) and len(first) == length and not isinstance(first[0], list)):
            told = f"an array [T] of {length}, a number for each {', '.join(grid.each)} of a draw"
            raise InputError(f"{name} of a measurement must be {told}, got {got}")
        if not grid.each and isinstance(first, list):
            raise InputError(f"{name} of a measurement must be a number where `each` names no column, got {got}")


def _null_for_nan(value: Any) -> Any:
    """The value as stored in a row: None for NaN."""
    return None if value != value else value


@parallel.locked_cache(256)
def _compiled(one: Measurement, program: Any, used: Hardware) -> Callable:
    def measure_draws(seed: Array, data: Any, draw: Draw, each: Each) -> Measured:
        measure = lambda column: one(program, seed, data, *column)
        return jax.vmap(measure)((draw, each)) if used.side_by_side else jax.lax.map(measure, (draw, each))

    if len(used.devices) == 1:
        return jax.jit(measure_draws, compiler_options=compiling.options(used, program.cost))
    mesh, own = Mesh(np.array(used.devices), ("draws",)), PartitionSpec("draws")
    specs = PartitionSpec(), PartitionSpec(), own, own
    return jax.jit(jax.shard_map(measure_draws, mesh=mesh, in_specs=specs, out_specs=own, check_vma=False))

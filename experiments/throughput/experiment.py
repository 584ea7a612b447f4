"""Throughput of reading a memory: time and memory against patterns, neurons and queries, beside a matrix product.

    softmax     `large.read` of stored patterns, one pass                4 M N Q operations
    sparsemax   the same with a threshold to find, several passes        (4 + 2 passes) M N Q, counted as 4 M N Q
    counts      `counts.tally` of generated spins by overlap and bit     2 M Q (N + 1)²

Every point is compiled once and run several times, in alternation with a product of two square matrices, whose rate
is the machine's own. `temporary` is what the compiled program holds beside its inputs and outputs: the larger
of what the compiler reports and of what the process grows by.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments import contract
from experiments.columns import Column, shared
from experiments.contract import Cost, Point, Row, Summary, Table, grid_axis, option
from experiments.figures.panel import Axis, Panel, curves, theory_line
from experiments.figures.style import series
from experiments.shared import draws, footprint, timing
from experiments.shared.notes import note
from experiments.statistics.lines import straight_line
from hopfield import Memory, large, separations
from hopfield.large import counts
from hopfield.patterns.sources import Generated

TASKS = ("softmax", "sparsemax", "counts")
AXES = ("patterns", "neurons", "queries")


@dataclass
class Config(contract.Config):
    """Options of the throughput experiment: one axis is varied at a time, the others stay at their base."""

    tasks: list[str] = option([*TASKS], among=TASKS, nonempty=True, axis=True)
    patterns: list[int] = grid_axis([256, 4096], "numbers of patterns M", least=1)
    neurons: list[int] = grid_axis([8, 32], "numbers of neurons N", least=1)
    queries: list[int] = grid_axis([1, 16], "numbers of queries Q", least=1)
    at: dict[str, int] = option(
        {"patterns": 2048, "neurons": 16, "queries": 8},
        "M, N and Q of the axes that are not varied",
        least=1,
        axis=True,
    )
    repeats: int = option(3, "runs of every point; the fastest counts", least=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if set(self.at) != set(AXES):
            raise ValueError(f"at must give {', '.join(AXES)}, got {self.at}")


COLUMNS = shared("task", "neurons", "patterns") | {
    "axis": Column("what is varied", kind=str),
    "queries": Column("queries of one call", "count", kind=int),
    "compile_s": Column("time of compilation", "s"),
    "run_s": Column("time of the best run", "s"),
    "run_median_s": Column("time of the median run", "s"),
    "rows_per_s": Column("pattern–query pairs per second", "1/s"),
    "flop_per_s": Column("operations per second", "1/s"),
    "product_flop_per_s": Column("operations per second of a matrix product run in alternation", "1/s"),
    "share": Column("flop_per_s over product_flop_per_s"),
    "argument_bytes": Column("memory of the inputs", "bytes", kind=int),
    "temporary_bytes": Column("memory that the program holds beside its inputs and outputs", "bytes", kind=int),
}


X_AXIS = "patterns"


def cost(config: Config) -> Cost:
    """Cost of timing every task at each value of each axis: patterns × neurons × queries in every repetition."""
    parts = []
    for axis in AXES:
        for value in getattr(config, axis):
            num_patterns, neurons, queries = ({**config.at, axis: value}[name] for name in AXES)
            size, steps = max(num_patterns, queries) * neurons, num_patterns * neurons * queries * (config.repeats + 1)
            parts.append(Cost(len(config.tasks), size, len(config.tasks) * steps))
    return contract.total(parts)


def points(config: Config) -> list[Point]:
    """One point per task, axis and value on it."""
    grid = []
    for task in config.tasks:
        for axis in AXES:
            for value in sorted(getattr(config, axis)):
                point = {"task": task, "axis": axis, **config.at, axis: value}
                # Counts are kept for every query, overlap and bit: beyond some neurons a memory reads faster.
                if task == "counts" and point["queries"] * (point["neurons"] + 1) ** 2 > 2**23:
                    note(f"{axis} {value:g} of counts needs more counts than there is room for: left out")
                else:
                    grid.append(point)
    return grid


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """One point after the other: two at once would time each other."""
    for point in wanted:
        yield point | measure_point(config, point)


SQUARE = 1024
"""Side of the matrices whose product is the measure."""


def measure_point(config: Config, point: Point) -> Row:
    """Seconds, bytes and operations per second of one point, and of a product of two square matrices beside it."""
    function, arguments, operations = _job(config, point)
    product, square = _product()
    programs: list[Any] = []
    compile_s = timing.seconds(lambda: programs.append(jax.jit(function).lower(*arguments).compile()))
    (compiled,) = programs
    times, products = timing.in_turn([lambda: compiled(*arguments), lambda: product(square)], config.repeats).T
    rate, own = operations / float(min(times)), 2 * SQUARE**3 / float(min(products))
    return {
        "compile_s": compile_s,
        "run_s": float(min(times)),
        "run_median_s": float(np.median(times)),
        "rows_per_s": point["patterns"] * point["queries"] / float(min(times)),
        "argument_bytes": compiled.memory_analysis().argument_size_in_bytes,
        "temporary_bytes": footprint.temporary_bytes(compiled, *arguments),
        "flop_per_s": rate,
        "product_flop_per_s": own,
        "share": rate / own,
    }


def _product() -> tuple[Callable[[Array], Array], Array]:
    square = jax.random.normal(jax.random.key(0), (SQUARE, SQUARE), jnp.float32)
    # The default precision of a CPU; what the command asks for elsewhere holds here, too.
    product = jax.jit(lambda x: x @ x)
    return product, square


def _job(config: Config, point: Point) -> tuple[Callable, tuple, float]:
    """A function, its arguments, and the multiplications and additions of its products."""
    num_patterns, neurons, queries = (point[axis] for axis in AXES)
    key, asked_key = draws.keys(config.seed, neurons, num_patterns)
    if point["task"] == "counts":
        source = Generated(key, "spins", num_patterns, neurons)
        words = Generated(asked_key, "spins", queries, neurons).words(0, queries)
        tally = lambda source, words: counts.tally(source, words, num_patterns, mesh=None)
        return tally, (source, words), 2.0 * num_patterns * queries * (neurons + 1) ** 2
    rows = jax.random.normal(key, (num_patterns, neurons), jnp.float32)
    asked = jax.random.normal(asked_key, (queries, neurons), jnp.float32)
    separation = separations.LogSumExp() if point["task"] == "softmax" else separations.Sparsemax()
    read = lambda rows, asked: large.read(Memory(rows, neurons**-0.5, separation=separation), asked)
    return read, (rows, asked), 4.0 * num_patterns * neurons * queries


def summarise(table: Table) -> Summary:
    """Exponents of time and memory over the last decade of each axis, and the largest share of the machine's rate."""
    estimates: list[Row] = []
    for (task, axis), rows in table.groupby(["task", "axis"], sort=False):
        rows = rows.sort_values(axis)
        upper = rows[rows[axis] >= rows[axis].max() / 10]
        for name, quantity in (("run_s", "slope of time"), ("temporary_bytes", "slope of memory")):
            if len(upper) > 1:
                x, y = np.log(upper[axis].astype(float)), np.log(upper[name].astype(float).clip(lower=1e-9))
                about = {"task": task, "axis": axis, "value": straight_line(x, y).slope}
                estimates.append({"quantity": quantity, **about, "headline": name == "run_s"})
    for task, rows in table.groupby("task", sort=False):
        share = float(rows["share"].max())
        estimates.append({"quantity": "share of the machine's rate", "task": task, "value": share, "headline": True})
    return Summary(estimates)


NAMES = {"patterns": "patterns $M$", "neurons": "neurons $N$", "queries": "queries $Q$"}


def panels(table: Table, summary: Summary) -> list[Panel]:
    """Time in the first row, memory in the second, against each axis."""
    table = table.assign(megabytes=table["temporary_bytes"] / 1e6)
    looks = series([str(task) for task in table["task"].unique()])
    shown = []
    for title, column, label in (
        ("time", "run_s", "time of one read (s)"),
        ("memory", "megabytes", "temporary memory (MB)"),
    ):
        for axis in AXES:
            rows = table[table["axis"] == axis]
            found = curves(rows, axis, column, by="task", looks=looks)
            if column == "run_s" and len(rows):
                ends = rows[axis].max() / 30, rows[axis].max()
                above = 3 * (rows["run_s"] / rows[axis])[rows[axis] >= 0.9 * ends[0]].max()
                found.append(theory_line(ends, [above * end for end in ends], "slope 1"))
            x = Axis(NAMES[axis], "log")
            shown.append(Panel(f"{title} against {NAMES[axis]}", x, Axis(label, "log"), found))
    return shown

"""What reading a memory costs: time and memory against patterns, neurons and queries, beside a matrix product.

    softmax     `blocks.read` of stored patterns, one pass               4 M N Q operations
    sparsemax   the same with a threshold to find, several passes        (4 + 2 passes) M N Q, counted as 4 M N Q
    counts      `counts.count` of generated spins by overlap and bit     2 M Q (N + 1)²

Every point is compiled once and run several times, in alternation with a product of two square matrices, whose rate
is the machine's own. `temporary` is what the compiled program holds beside its inputs and outputs, as the compiler
reports it.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from experiments import contract
from experiments.contract import Cost, about

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

X_AXIS = "patterns"
TASKS = ("softmax", "sparsemax", "counts")
AXES = ("patterns", "neurons", "queries")
SQUARE = 1024
"""Side of the matrices whose product is the measure."""


@dataclass
class Config(contract.Config):
    """Options of the throughput experiment: one axis is varied at a time, the others stay at their base."""

    tasks: list[str] = field(
        default_factory=lambda: list(TASKS), metadata=about(f"any of {', '.join(TASKS)}", among=TASKS, nonempty=True)
    )
    patterns: list[int] = field(
        default_factory=lambda: [256, 4096], metadata=about("numbers of patterns M", least=1, nonempty=True)
    )
    neurons: list[int] = field(
        default_factory=lambda: [8, 32], metadata=about("numbers of neurons N", least=1, nonempty=True)
    )
    queries: list[int] = field(
        default_factory=lambda: [1, 16], metadata=about("numbers of queries Q", least=1, nonempty=True)
    )
    at: dict[str, int] = field(
        default_factory=lambda: {"patterns": 2048, "neurons": 16, "queries": 8},
        metadata=about("M, N and Q of the axes that are not varied", least=1),
    )
    repeats: int = field(default=3, metadata=about("runs of every point; the fastest counts", least=1))

    def __post_init__(self) -> None:
        super().__post_init__()
        if set(self.at) != set(AXES):
            raise ValueError(f"at must give {', '.join(AXES)}, got {self.at}")


def cost(config: Config) -> Cost:
    """What all of it takes, from the options alone."""
    parts = []
    for axis in AXES:
        for value in getattr(config, axis):
            patterns, neurons, queries = ({**config.at, axis: value}[name] for name in AXES)
            size, steps = max(patterns, queries) * neurons, patterns * neurons * queries * (config.repeats + 1)
            parts.append(Cost(len(config.tasks), size, len(config.tasks) * steps))
    return contract.total(parts)


def points(config: Config) -> list[dict]:
    """One point per task, axis and value on it."""
    found = []
    for task in dict.fromkeys(config.tasks):
        for axis in AXES:
            for value in sorted(set(getattr(config, axis))):
                point = {"task": task, "axis": axis, **config.at, axis: value}
                # Counts are kept for every query, overlap and bit: beyond some neurons a memory reads faster.
                if task != "counts" or point["queries"] * (point["neurons"] + 1) ** 2 <= 2**23:
                    found.append(point)
    return found


def science(config: Config) -> dict:
    """What a point's numbers depend on besides the point."""
    return {"seed": config.seed, "repeats": config.repeats}


def measure(config: Config, points_: Sequence[dict]) -> Iterator[dict]:
    """One point after the other: two at once would time each other."""
    for point in points_:
        yield point | _measured(config, point)


def _measured(config: Config, point: dict) -> dict:
    import jax

    function, arguments, operations = _job(config, point)
    product, square = _product()
    began = time.perf_counter()
    compiled = jax.jit(function).lower(*arguments).compile()
    compile_s = time.perf_counter() - began
    held = cast(Any, compiled.memory_analysis())
    run = lambda: jax.block_until_ready(compiled(*arguments))  # noqa: E731
    times, products = [], []
    run()
    for _ in range(config.repeats):
        times.append(_timed(run))
        products.append(_timed(lambda: product(square).block_until_ready()))
    rate, own = operations / min(times), 2 * SQUARE**3 / min(products)
    return {
        "compile_s": compile_s,
        "run_s": min(times),
        "run_median_s": float(np.median(times)),
        "rows_per_s": point["patterns"] * point["queries"] / min(times),
        "argument_bytes": held.argument_size_in_bytes,
        "temporary_bytes": held.temp_size_in_bytes,
        "flop_per_s": rate,
        "product_flop_per_s": own,
        "share": rate / own,
    }


def _timed(run: Callable[[], Any]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def _product():
    import jax
    import jax.numpy as jnp

    square = jax.random.normal(jax.random.key(0), (SQUARE, SQUARE), jnp.float32)
    # The default precision of a CPU; what the command asks for elsewhere holds here, too.
    product = jax.jit(lambda x: x @ x)
    product(square).block_until_ready()
    return product, square


def _job(config: Config, point: dict) -> tuple[Callable, tuple, float]:
    """A function, its arguments, and the multiplications and additions of its products."""
    import jax
    import jax.numpy as jnp

    from hopfield import large, separations
    from hopfield.large import counts
    from hopfield.patterns.sources import generated

    patterns, neurons, queries = (point[axis] for axis in AXES)
    key = jax.random.key(config.seed)
    if point["task"] == "counts":
        source = generated(key, "spins", patterns, neurons)
        words = generated(jax.random.key(config.seed + 1), "spins", queries, neurons).words(0, queries)
        tally = lambda source, words: counts.tally(source, words, patterns, mesh=None)  # noqa: E731
        return tally, (source, words), 2.0 * patterns * queries * (neurons + 1) ** 2
    rows = jax.random.normal(key, (patterns, neurons), jnp.float32)
    asked = jax.random.normal(jax.random.key(config.seed + 1), (queries, neurons), jnp.float32)
    separation = separations.LogSumExp() if point["task"] == "softmax" else separations.Sparsemax()
    read = lambda rows, asked: large.read(rows, asked, beta=neurons**-0.5, separation=separation)  # noqa: E731
    return read, (rows, asked), 4.0 * patterns * neurons * queries


def summarise(table: "pandas.DataFrame") -> dict:
    """Exponents of time and memory over the last decade of each axis; the largest share of the machine's own rate."""
    slopes, scalars, frame = [], {}, cast(Any, table)
    for (task, axis), rows in frame.groupby(["task", "axis"], sort=False):
        rows = rows.sort_values(axis)
        upper = rows[rows[axis] >= rows[axis].max() / 10]
        entry = {"task": task, "axis": axis, "points": len(upper)}
        for name in ("run_s", "temporary_bytes"):
            x, y = np.log(upper[axis].astype(float)), np.log(upper[name].astype(float).clip(lower=1e-9))
            entry[f"{name}_slope"] = float(np.polyfit(x, y, 1)[0]) if len(upper) > 1 else None
        slopes.append(entry)
        if entry["run_s_slope"] is not None:
            scalars[f"slope/{task}/{axis}"] = entry["run_s_slope"]
    for task, rows in frame.groupby("task", sort=False):
        scalars[f"share/{task}"] = float(rows["share"].max())
    return {"slopes": slopes, "scalars": scalars}


def plot(table: "pandas.DataFrame", summary: dict) -> "Figure":
    """Time above, memory below, against each axis."""
    from experiments.figures.style import THEORY, panels, series

    figure, axes = panels(2, 3, width=11.0, height=2.9)
    looks = series([str(task) for task in table["task"].unique()])
    names = {"patterns": "patterns M", "neurons": "neurons N", "queries": "queries Q"}
    for column, axis in enumerate(AXES):
        part = cast(Any, table[table["axis"] == axis])
        for task, rows in part.groupby("task", sort=False):
            rows = rows.sort_values(axis)
            axes[0, column].loglog(rows[axis], rows["run_s"], **looks[str(task)], label=str(task))
            axes[1, column].loglog(rows[axis], rows["temporary_bytes"] / 1e6, **looks[str(task)])
        if len(part):
            top, value = part["run_s"].max(), part[axis].max()
            line = np.array([value / 30, value])
            axes[0, column].loglog(line, top * line / value * 2, **THEORY)
            axes[0, column].annotate("slope 1", (line[0] * 1.1, top * 2 / 12), fontsize=8, ha="right")
        axes[0, column].set_title(f"{'abc'[column]}  time against {names[axis]}")
        axes[1, column].set_xlabel(names[axis])
    axes[0, 0].set_ylabel("time of one read (s)")
    axes[1, 0].set_ylabel("temporary memory (MB)")
    axes[0, 0].legend(fontsize=8)
    return figure

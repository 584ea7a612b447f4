"""Detection of queries that no stored pattern matches, by the weight that softmax₁ leaves over.

A memory with the separation softmax1 is asked with corrupted patterns of overlap m, or with random vectors. What is
left of the weight, 1/(1 + Σ e^(κ s)), is larger for these: the area under the ROC curve is the probability that a
random vector leaves more than a corrupted pattern. The two kinds of queries ask independent memories, for which theory
of the area, `hopfield.theory.novelty`, is exact. Theory of the weights left over is annealed, 1/(1 + ⟨Σ e^(κ s)⟩),
and lies below their means.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments import contract
from experiments.columns import Column, shared
from experiments.contract import Cost, Point, Row, Summary, Table, grid_axis, option
from experiments.figures.panel import Axis, Panel, Series, curves, entry, guide, theory_line
from experiments.figures.style import THEORY, series
from experiments.shared import draws, grids
from experiments.shared.axes import product_of
from experiments.shared.grids import Data, Draw, Each, Grid, Measured
from experiments.statistics.clusters import means_by_group
from experiments.statistics.deviations import errors_apart, share_within_two
from experiments.statistics.estimates import tidy
from hopfield import Memory
from hopfield.patterns import sphere
from hopfield.theory import novelty


@dataclass
class Config(contract.Config):
    """Options of the detection of queries that no stored pattern matches; the defaults are smoke scale."""

    neurons: list[int] = grid_axis([16], "components D of patterns on the sphere", least=3)
    patterns: list[int] = grid_axis([32, 128], "numbers of stored patterns M", least=1)
    kappas: list[float] = grid_axis([8.0], "κ = β for patterns of norm 1", most=80, above=0)
    overlaps: list[float] = grid_axis([0.5, 0.7], "overlaps m of a known query with its pattern", least=0, most=1)
    samples: int = option(20, "pairs of memories, one asked by each kind", least=2, extends=True)
    queries: int = option(8, "queries of each kind in each pair", least=1)


COLUMNS = shared("neurons", "patterns", "kappa", "sample") | {
    "overlap": Column("overlap of the corrupted patterns with the stored ones", "−1 to 1"),
    "auc": Column(
        "probability that a random vector leaves more weight over than a corrupted pattern, the ROC area",
        "0 to 1",
    ),
    "left_known": Column("mean weight left over for corrupted patterns", "0 to 1"),
    "left_novel": Column("mean weight left over for random vectors", "0 to 1"),
}


X_AXIS = "patterns"


def cost(config: Config) -> Cost:
    """Cost of all pairs of memories: M × D numbers each, compared with the queries at every κ and overlap."""
    each = len(config.kappas) * len(config.overlaps) * config.samples
    most, wide = max(config.patterns), max(config.neurons)
    draws = len(config.neurons) * len(config.patterns) * each
    return Cost(draws, 2 * most * wide, draws * 2 * most * wide * (10 + config.queries))


def points(config: Config) -> list[Point]:
    """One point per size, number of patterns, κ, overlap and pair of memories."""
    return product_of(
        neurons=config.neurons,
        patterns=config.patterns,
        kappa=config.kappas,
        overlap=config.overlaps,
        sample=range(config.samples),
    )


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points. A pair of memories depends on the seed, D, M and its number, and serves all κ and overlaps."""
    together, each = len(config.kappas) * len(config.overlaps), {"kappa": np.float32, "overlap": np.float32}
    program = lambda point: Program(point["neurons"], point["patterns"], config.queries, together)
    grid = Grid(program, one, {"sample": np.uint32}, each, lambda program: program.together, call_cost=1e9)
    yield from grids.rows(grid, config.seed, wanted)


class Program(NamedTuple):
    """Structure of a compiled measurement: the values that select its program. All others are traced."""

    neurons: int
    num_patterns: int
    queries: int
    together: int

    @property
    def cost(self) -> float:
        """Rough multiplications of one pair of memories."""
        return 2.0 * self.num_patterns * self.neurons * (10 + self.queries * self.together)


def one(program: Program, seed: Array, data: Data, draw: Draw, each: Each) -> Measured:
    """Columns [T] at each κ and overlap, of one memory asked with corrupted patterns, one with random vectors."""
    pattern_key, query_key = draws.keys(seed, program.neurons, program.num_patterns, draw["sample"])
    known, novel = (_unit(key, program.num_patterns, program) for key in jax.random.split(pattern_key))
    noise, random = (_unit(key, program.queries, program) for key in jax.random.split(query_key))
    target = known[jnp.arange(program.queries) % program.num_patterns]
    across = noise - jnp.sum(noise * target, axis=1, keepdims=True) * target
    across = across / jnp.linalg.norm(across, axis=1, keepdims=True)

    def measure_cell(kappa: Array, overlap: Array) -> dict[str, Array]:
        query = overlap * target + jnp.sqrt(1.0 - overlap**2) * across
        left, none = (_log_left(m, q, kappa) for m, q in ((known, query), (novel, random)))
        higher = (none[None, :] > left[:, None]) + 0.5 * (none[None, :] == left[:, None])
        return {"auc": jnp.mean(higher), "left_known": jnp.mean(jnp.exp(left)), "left_novel": jnp.mean(jnp.exp(none))}

    return jax.vmap(measure_cell)(each["kappa"], each["overlap"])


def _unit(key: Array, rows: int, program: Program) -> Array:
    return sphere(key, rows, program.neurons) / program.neurons**0.5


def _log_left(patterns: Array, queries: Array, kappa: Array) -> Array:
    """ln of the weight left over, −F, which keeps apart what rounds to the same weight."""
    memory = Memory(patterns, separation="softmax1").replace(beta=kappa)
    return -jax.vmap(lambda state: memory.separation.potential(kappa * memory.scores(state)))(queries)


KEYS = ["neurons", "patterns", "kappa", "overlap"]
AREA, LEFT = "area under the ROC curve", "weight left over"
QUANTITIES = {"auc": AREA, "left_novel": f"{LEFT}, novel query", "left_known": f"{LEFT}, known query"}


def summarise(table: Table) -> Summary:
    """Means with errors over pairs of memories, and how many areas lie within two errors of theory.

    Theory of the areas is exact, of the weights left over annealed.
    """
    kinds = {"auc": (novelty.auc, "exact"), "left_known": (novelty.leftover, "annealed")}
    estimates: list[Row] = []
    for name, quantity in QUANTITIES.items():
        means = means_by_group(table, KEYS, name, "sample")
        function, kind = kinds.get(name, (_leftover_of_random, "annealed"))
        means["theory"] = [float(function(*place)) for place in means[KEYS].itertuples(index=False)]
        estimates += tidy(means, KEYS, {"mean": quantity}, kind=kind)
    areas = [row for row in estimates if row["quantity"] == AREA]
    apart = [errors_apart(*(area[name] for name in ("value", "stderr", "theory", "samples"))) for area in areas]
    largest = max(abs(area["value"] - area["theory"]) for area in areas)
    estimates.append({"quantity": "within two errors", "value": share_within_two(apart), "headline": True})
    estimates.append({"quantity": "largest deviation", "value": largest, "headline": True})
    return Summary(estimates)


def _leftover_of_random(neurons: int, num_patterns: int, kappa: float, overlap: float) -> float:
    """Weight left over for a random vector, whatever the overlap of the others."""
    return novelty.leftover(neurons, num_patterns, kappa)


def panels(table: Table, summary: Summary) -> list[Panel]:
    """Areas against the number of patterns and κ, and left-over weights at the middle κ, with theory as lines."""
    areas = summary.of(AREA)
    areas = areas[areas["neurons"] == areas["neurons"].max()]
    kappas = sorted(areas["kappa"].unique())
    middle, last = kappas[len(kappas) // 2], areas["overlap"].max()
    size = sorted(areas["patterns"].unique())[areas["patterns"].nunique() // 2]
    at_kappa, at_size = areas[areas["kappa"] == middle], areas[areas["patterns"] == size]
    count, inverse = (
        Axis("number of patterns $M$", "log"),
        Axis(r"inverse temperature $\kappa$", "log", ticks=[(kappa, f"{kappa:g}") for kappa in kappas]),
    )
    here = {"neurons": areas["neurons"].max(), "kappa": middle, "overlap": last}
    return [
        _areas(f"$D={areas['neurons'].max()}$, " + rf"$\kappa={middle:g}$", count, at_kappa, "patterns"),
        _areas(f"$D={areas['neurons'].max()}$, $M={size}$", inverse, at_size, "kappa"),
        _weight_left(rf"$\kappa={middle:g}$, overlap {last:g}", count, summary, here),
    ]


def _areas(title: str, axis: Axis, rows: Table, name: str) -> Panel:
    looks = series([f"{overlap}" for overlap in sorted(rows["overlap"].unique())])
    found = curves(rows, name, "value", by="overlap", theory="theory", label="overlap {:g}", looks=looks)
    found += [entry("exact theory", **THEORY), guide(0.5)]
    area = Axis("area under the ROC curve", limits=(0.45, 1.03))
    return Panel(title, axis, area, found, legend="bars: one standard error")


def _weight_left(title: str, axis: Axis, summary: Summary, here: dict) -> Panel:
    found: list[Series] = []
    for name, look in series(["novel", "known"]).items():
        rows = summary.of(f"{LEFT}, {name} query", **here).sort_values("patterns")
        measured = Series(rows["patterns"], rows["value"], **look | {"linestyle": ""}, label=f"{name} query")
        found += [measured, theory_line(rows["patterns"], rows["theory"], color=look["color"])]
    return Panel(title, axis, Axis(LEFT, "log"), [*found, entry("annealed theory", **THEORY)])

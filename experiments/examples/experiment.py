"""Patterns learned from noisy examples: how many it takes, with a teacher and without, at a quality and a load.

Hebb's couplings of A examples of each of M patterns; every state starts in a pattern, which was never shown, and makes
asynchronous sweeps at zero temperature. Theory is replica symmetric, `hopfield.theory.examples`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments import contract
from experiments.columns import Column, shared
from experiments.contract import Cost, Point, Row, Summary, Table, grid_axis, option
from experiments.figures.panel import Axis, Panel, Series, curves, entry, theory_line
from experiments.figures.style import THEORY, ordered
from experiments.shared import convergence, draws, grids, loads
from experiments.shared.axes import product_of
from experiments.shared.grids import Data, Draw, Each, Grid, Measured
from experiments.statistics import clusters
from experiments.statistics.clusters import means_by_group, shares_by_group
from experiments.statistics.crossings import half_crossing
from experiments.statistics.deviations import errors_apart, share_within_two
from experiments.statistics.estimates import tidy
from hopfield import patterns, retrieve
from hopfield.dynamics import STEP_LIMIT
from hopfield.networks import examples_network
from hopfield.observables.overlaps import above
from hopfield.theory import examples as theory

RULES = ("supervised", "unsupervised")
"""Rules: examples of one pattern are added up before they are stored, as a teacher permits, or not."""
KEPT = 0.7
"""Overlap above which a pattern is retained; states of few examples end well below 1."""


@dataclass
class Config(contract.Config):
    """Options of learning patterns from noisy examples; the defaults are smoke scale."""

    rules: list[str] = grid_axis(list(RULES), among=RULES)
    neurons: list[int] = grid_axis([100], "numbers of neurons N", least=10)
    loads: list[float] = grid_axis([0.05], "loads M / N", above=0, most=1)
    qualities: list[float] = grid_axis([0.5], "qualities r of examples", above=0, most=1)
    examples: list[int] = grid_axis([2, 20], "numbers of examples A of each pattern", least=1)
    samples: int = option(4, "draws of patterns and examples", least=2, extends=True)
    queries: int = option(4, "patterns retrieved in each draw", least=1)
    max_steps: int = option(100, "sweeps of one retrieval at most", least=1)


COLUMNS = shared("rule", "neurons", "patterns", "load", "sample", "queries", "overlap", "step_limit") | {
    "quality": Column("r, mean overlap of an example with its pattern", "0 to 1"),
    "examples": Column("examples A shown of each pattern", "count", kind=int),
    "retained": Column("share of patterns whose state, started in them, ends with an overlap above 0.7", "0 to 1"),
}
"""Patterns, the archetypes, are never shown themselves. `overlap` is with the pattern, after a start in it."""


X_AXIS = "examples"


class Program(NamedTuple):
    """Structure of a compiled measurement: the values that select its program. All others are traced."""

    rule: str
    neurons: int
    num_patterns: int
    most_examples: int
    queries: int
    max_steps: int

    @property
    def cost(self) -> float:
        """Rough multiplications of one draw: the couplings, and some ten sweeps of each query."""
        rows = self.num_patterns * (1 if self.rule == RULES[0] else self.most_examples)
        return self.neurons**2 * (rows + 10.0 * self.queries)


def points(config: Config) -> list[Point]:
    """One point per rule, size, load, quality, number of examples and draw."""
    grid: list[Point] = []
    for rule, neurons in product(config.rules, config.neurons):
        number = lambda load, neurons=neurons: loads.odd(load * neurons, 1)
        for stored in loads.counts(config.loads, number, f"{rule} at N={neurons}"):
            place = {"rule": [rule], "neurons": [neurons], "patterns": [stored], "quality": config.qualities}
            grid += product_of(**place, examples=config.examples, sample=range(config.samples))
    return grid


def cost(config: Config) -> Cost:
    """Cost of all draws."""
    programs = [_program(config, point) for point in points(config)]
    most = max(p.neurons * max(p.neurons, p.num_patterns * p.most_examples) for p in programs)
    return Cost(len(programs), most, sum(p.cost for p in programs))


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points. A draw depends on the seed, N, M and its number; fewer examples are the first of more."""
    traced = {"sample": np.uint32, "quality": np.float32, "examples": np.uint32}
    known = lambda point: {
        "load": point["patterns"] / point["neurons"],
        "queries": min(config.queries, point["patterns"]),
    }
    grid = Grid(partial(_program, config), one, traced, most=16, call_cost=5e9)
    yield from grids.rows(grid, config.seed, wanted, known_columns=known)


def _program(config: Config, point: Point) -> Program:
    queries = min(config.queries, point["patterns"])
    shape = point["neurons"], point["patterns"], max(config.examples)
    return Program(point["rule"], *shape, queries, config.max_steps)


def one(program: Program, seed: Array, data: Data, draw: Draw, each: Each) -> Measured:
    """Overlaps with the patterns of a draw of states that start in them, and the share that is retained."""
    pattern_key, key = draws.keys(seed, program.neurons, program.num_patterns, draw["sample"])
    example_key, query_key = jax.random.split(key)
    archetypes = patterns.spins(pattern_key, program.num_patterns, program.neurons)
    each_key = jax.vmap(lambda a: jax.random.fold_in(example_key, a))(jnp.arange(program.most_examples))
    shown = jax.vmap(lambda k: patterns.examples(k, archetypes, 1, draw["quality"])[:, 0], out_axes=1)(each_key)
    used = jnp.arange(program.most_examples) < draw["examples"]
    network = examples_network(jnp.where(used[None, :, None], shown, 0.0), supervised=program.rule == RULES[0])
    index, keys = draws.numbers_and_keys(query_key, program.queries)

    def end_of(i: Array, key: Array) -> tuple[Array, Array]:
        end = retrieve(network, archetypes[i], dynamics="asynchronous", key=key, max_steps=program.max_steps)
        return jnp.dot(end.state, archetypes[i]) / program.neurons, end.status == STEP_LIMIT

    overlaps, cut = jax.vmap(end_of)(index, keys)
    return {"overlap": jnp.mean(overlaps), "retained": jnp.mean(above(overlaps, KEPT)), "step_limit": jnp.sum(cut)}


CURVE = ["rule", "neurons", "patterns", "load", "quality"]
CLEAN = 0.95
"""Share retained from which the mean overlap covers the retrieval state alone."""


def summarise(table: Table) -> Summary:
    """Overlap and share retained with errors over draws, theory beside, and the examples that half of them need.

    Theory of the number needed is the least with a retrieval state for N → ∞; dynamics that start in the pattern end
    near it up to somewhat larger loads, as they do in the classical network, and so need fewer.
    """
    of = [*CURVE, "examples"]
    states = means_by_group(table, of, "overlap", "sample")
    kept = shares_by_group(table, of, "retained", table["queries"], "sample")
    states["theory"] = [
        float(theory.overlap(row["load"], row["quality"], row["examples"], supervised=row["rule"] == RULES[0]))
        for row in states.to_dict("records")
    ]
    estimates = tidy(states, of, {"mean": OVERLAP}, kind=KIND) + tidy(kept, of, {"mean": "share retained"})
    for curve, rows in clusters.curves(table, CURVE):
        half = half_crossing(np.log(rows["examples"]), rows["retained"], rows["sample"])
        least = theory.examples_needed(curve["load"], curve["quality"], supervised=curve["rule"] == RULES[0])
        number = float(np.exp(half.value))
        entry = {"value": number, "stderr": number * half.stderr, "limit": float(least), "kind": KIND}
        estimates.append({"quantity": NEEDED, **curve, **entry, "headline": bool(np.isfinite(number))})
    for rule, rows in states.groupby("rule", sort=False):
        clean: Table = rows[(kept["mean"][rows.index] >= CLEAN) & rows["theory"].notna()]
        columns = clean[["mean", "stderr", "theory", "clusters"]].itertuples(index=False)
        if len(clean):
            share = share_within_two(errors_apart(*entry) for entry in columns)
            apart = float((clean["mean"] - clean["theory"]).abs().max())
            for quantity, value in (("within two errors", share), ("largest deviation", apart)):
                estimates.append({"quantity": quantity, "rule": rule, "value": value, "headline": True})
    return Summary([*estimates, *convergence.cut_estimates(table)], _lines(states))


OVERLAP, NEEDED, KIND = "overlap", "examples needed", "replica symmetric"


def _lines(states: Table) -> list[Row]:
    """Theory of overlaps against examples at every load measured, and of the examples needed against the load."""
    found = []
    for (rule, load), rows in states.groupby(["rule", "load"], sort=False):
        counts = np.unique(np.round(np.geomspace(rows["examples"].min(), rows["examples"].max(), 40)).astype(int))
        for quality in dict.fromkeys(rows["quality"]):
            line = [float(theory.overlap(load, quality, int(a), supervised=rule == RULES[0])) for a in counts]
            about = {"quantity": OVERLAP, "rule": rule, "load": load, "quality": quality, "kind": KIND}
            found.append({**about, "x": counts.tolist(), "y": line})
    states = states[states["neurons"] == states["neurons"].max()]
    loads = np.linspace(0.5 * states["load"].min(), 1.1 * states["load"].max(), 25)
    for (rule, quality), _ in states.groupby(["rule", "quality"], sort=False):
        least = [theory.examples_needed(float(load), float(quality), supervised=rule == RULES[0]) for load in loads]
        about = {"quantity": NEEDED, "rule": rule, "quality": quality, "kind": KIND}
        found.append({**about, "x": loads.tolist(), "y": np.where(np.isfinite(least), least, np.nan).tolist()})
    return found


EXAMPLES = Axis("examples $A$ of each pattern", "log")


def panels(table: Table, summary: Summary) -> list[Panel]:
    """Overlaps of every rule at the middle load, and the examples that half of the patterns need."""
    states, needed = summary.of(OVERLAP), summary.of(NEEDED)
    size, loads = states["neurons"].max(), sorted(states["load"].unique())
    states, needed = states[states["neurons"] == size], needed[needed["neurons"] == size]
    looks, load = ordered([f"{quality}" for quality in sorted(states["quality"].unique())]), loads[len(loads) // 2]
    shown = []
    for rule, rows in states[states["load"] == load].groupby("rule", sort=False):
        found = curves(rows, "examples", "value", by="quality", label="$r={:g}$", looks=looks)
        for part in found:
            part.linestyle = ""
        found += _theory(summary.line(OVERLAP, rule=rule, load=load), looks)
        found.append(entry("replica symmetric", **THEORY))
        y = Axis("overlap with the pattern", limits=(None, 1.03))
        shown.append(Panel(f"{rule}, $N={size}$, $\\alpha={load:.3f}$", EXAMPLES, y, found))
    for rule, rows in needed.groupby("rule", sort=False):
        points = {name: look | {"linestyle": ""} for name, look in looks.items()}
        found = curves(rows, "load", "value", by="quality", label="$r={:g}$", looks=points)
        found += _theory(summary.line(NEEDED, rule=rule), looks)
        found.append(entry("least with a retrieval state, $N\\to\\infty$", **THEORY))
        x, y = Axis(r"load $\alpha = M/N$"), Axis("examples $A$ needed", "log")
        shown.append(Panel(f"{rule}: half retained", x, y, found))
    return shown


def _theory(lines: Table, looks: dict) -> list[Series]:
    """Lines of theory in the colours of their qualities."""
    return [
        theory_line(x, y, color=looks[f"{quality}"]["color"])
        for quality, x, y in lines[["quality", "x", "y"]].itertuples(index=False)
    ]

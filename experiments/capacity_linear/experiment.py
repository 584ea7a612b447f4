"""Capacity of fast-weight memories: the share of keys that find their value, by rule and number of pairs.

n pairs of random unit vectors of D components are written into a matrix S of D × D numbers (`attention.FastWeights`),
one after the other. A key is found if no other stored value has a larger product with what it reads.

    outer            S = Σ k vᵀ: linear attention; half of the keys at n ln n / D² of about ½, the scaling of the figure
    outer:a          the same with every older pair faded by a at each write
    delta            what a key reads is written over: the newest few times D pairs, however many there were
    delta:a          the gated delta rule with a constant gate
    pseudo_inverse   the best matrix in least squares: all keys up to n = D

Typical keys are beside `hopfield.theory.linear`, exact up to 1/D² for the outer product. For `delta` and with decay it
is of leading order in 1/D, and its shares are too large by up to 0.035 from D = 32 on, which the legend says.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from scipy.optimize import brentq

from experiments import contract
from experiments.bounds import Bounds, Number, name_and_number
from experiments.columns import Column, shared
from experiments.contract import Cost, Point, Row, Summary, Table, grid_axis, option
from experiments.figures import panel
from experiments.figures.panel import SHARE, Axis, Panel, entry, guide
from experiments.figures.style import THEORY, series
from experiments.shared import draws, grids, loads
from experiments.shared.grids import Data, Draw, Each, Grid, Measured
from experiments.statistics.clusters import by_group, curves
from experiments.statistics.crossings import half_crossing
from experiments.statistics.deviations import errors_apart, share_within_two
from experiments.statistics.estimates import tidy
from hopfield.attention import FastWeights
from hopfield.patterns import sphere
from hopfield.theory import linear

DECAY = Number(Bounds(above=0, most=1), needed=False)
RULES = {"outer": DECAY, "delta": DECAY, "pseudo_inverse": None}


@dataclass
class Config(contract.Config):
    """Options of the capacity of fast-weight memories; the defaults are smoke scale."""

    rules: list[str] = option(
        ["outer", "pseudo_inverse"],
        "outer, delta, pseudo_inverse; of the first two also rule:decay, as in delta:0.99, which is gated",
        names=RULES,
        nonempty=True,
    )
    neurons: list[int] = grid_axis([16, 32], "numbers of components D of keys and of values", least=3, most=4096)
    loads: list[float] = grid_axis([0.2, 0.4, 0.6, 0.8], "loads n ln n / D² of n pairs", most=20, above=0)
    samples: int = option(8, "draws of pairs at each load", least=2, extends=True)
    queries: int = option(256, "keys asked for in each sample, spread over all ages", least=1)


COLUMNS = shared("rule", "neurons", "patterns", "sample", "load") | {
    "theory": Column("share of typical keys that find their value, theory exact up to 1/D²", "0 to 1"),
    "asked": Column("keys that were asked for, at most the option queries", "count", kind=int),
    "all": Column("1 if all of them find their value, 0 otherwise"),
    "found": Column("share of keys that find their value", "0 to 1"),
}


X_AXIS = "load"


def pairs(load: float, neurons: int) -> int:
    """The number n ≥ 2 of pairs nearest to n ln n = load · D²."""
    excess = lambda n: n * np.log(n) - load * neurons**2
    number: Any = brentq(excess, 1.0, 10.0 + 20.0 * load * neurons**2)
    return max(2, round(number))


def cost(config: Config) -> Cost:
    """Cost of all draws: n pairs written into a D × D matrix, and the queries read from it."""
    most, wide = pairs(max(config.loads), max(config.neurons)), max(config.neurons)
    points = len(config.rules) * len(config.neurons) * len(config.loads) * config.samples
    each = most * wide * (3 * wide + config.queries)
    return Cost(points, most * max(wide, config.queries), points * each / 4)


def points(config: Config) -> list[Point]:
    """One point per rule, size, number of pairs and sample."""
    grid = []
    for rule, neurons in product(config.rules, config.neurons):
        number = partial(pairs, neurons=neurons)
        for num_patterns in loads.counts(config.loads, number, f"{rule} at D={neurons}"):
            point = {"rule": rule, "neurons": neurons, "patterns": num_patterns}
            grid += [point | {"sample": sample} for sample in range(config.samples)]
    return grid


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points, theory beside them."""
    decay = (np.float32, lambda point: name_and_number(point["rule"])[1] or 1.0)
    draw = {**draws.TRACED, "decay": decay}  # a draw depends on the seed, D, n and its number, and serves all rules
    grid = Grid(lambda point: _program(config, point), one, draw, most=16, call_cost=5e9)
    yield from grids.rows(grid, config.seed, wanted, known_columns=lambda point: _known_columns(config, point))


def _program(config: Config, point: Point) -> draws.Rule:
    neurons = point["neurons"]
    padding = draws.rows_to_draw(point["patterns"], pairs(max(config.loads), neurons), neurons)
    queries = min(config.queries, padding)
    cost = padding * neurons * (3.0 * neurons + 2 * CHUNK + queries)
    return draws.Rule(name_and_number(point["rule"])[0], neurons, padding, queries, cost)


def _known_columns(config: Config, point: Point) -> Row:
    num_patterns, neurons = point["patterns"], point["neurons"]
    about = {
        "load": num_patterns * np.log(num_patterns) / neurons**2,
        "theory": _theory(point["rule"], neurons, num_patterns),
    }
    return about | {"asked": min(config.queries, num_patterns)}


@lru_cache(maxsize=4096)
def _theory(rule: str, neurons: int, num_patterns: int) -> float:
    name, decay = name_and_number(rule)
    return float(linear.key_found(neurons, num_patterns, name, decay=1.0 if decay is None else decay))


CHUNK = 64
"""Pairs written together."""


def one(program: draws.Rule, seed: Array, data: Data, draw: Draw, each: Each) -> Measured:
    """Write all pairs of a draw, ask for some of their keys, evenly spaced from the oldest to the newest."""
    count, rows = draw["num_patterns"].astype(jnp.int32), jnp.arange(program.padding)
    used = rows < count
    key, value = (
        sphere(k, program.padding, program.neurons) / program.neurons**0.5
        for k in draws.keys(seed, program.neurons, draw["num_patterns"], draw["sample"])
    )
    memory = FastWeights(program.neurons, rule=program.rule)
    decay = jnp.where(used, draw["decay"], 1.0)
    _, memory = memory.attend(key, key, value, strength=used.astype(key.dtype), decay=decay, chunk=CHUNK)
    order = jnp.arange(program.queries)
    index = jnp.where(
        count <= program.queries, order, jnp.floor((order + 0.5) * (count / program.queries)).astype(jnp.int32)
    )
    valid = index < count
    scores = jnp.where(used[None, :], (key[index] @ memory.matrix) @ value.T, -jnp.inf)
    right = valid & (jnp.argmax(scores, axis=1) == index)
    return {"found": jnp.sum(right) / jnp.sum(valid), "all": (jnp.sum(right) == jnp.sum(valid)).astype(jnp.float32)}


KEYS = ["rule", "neurons", "patterns"]


def summarise(table: Table) -> Summary:
    """Shares of keys found with errors over draws, how many lie within two of theory, and the half-way loads."""
    counts = table.assign(right=(table["found"] * table["asked"]).round(), draws=1)
    shares: Table = by_group(counts, KEYS, "right", "asked", "sample")
    about = table.groupby(KEYS, sort=False)[["load", "theory"]].first().reset_index()
    shares = shares.merge(about, on=KEYS)
    every = counts[counts["asked"] == counts["patterns"]]
    whole: Table = by_group(every, KEYS, "all", "draws", "sample")
    shares["apart"] = [
        errors_apart(row["mean"], row["stderr"], row["theory"], 1 / (row["high"] - row["low"]) - 1)
        for row in shares.to_dict("records")
    ]
    estimates = [
        *(row | {"kind": kind_of(row["rule"])} for row in tidy(shares, [*KEYS, "load"], {"mean": FOUND})),
        *tidy(whole.merge(about, on=KEYS).drop(columns="theory"), [*KEYS, "load"], {"mean": ALL}),
    ]
    for curve, rows in curves(table, ["rule", "neurons"]):
        crossing = half_crossing(rows["load"], 1 - rows["found"], rows["sample"])
        mean = rows.groupby("load")[["theory"]].mean().reset_index()
        theory = half_crossing(mean["load"], 1 - mean["theory"], np.zeros(len(mean)))
        entry = {"value": crossing.value, "stderr": crossing.stderr, "theory": theory.value, "headline": True}
        estimates.append({"quantity": "half", **curve, **entry, "kind": kind_of(curve["rule"])})
    for rule, rows in shares.groupby("rule", sort=False):
        apart = float(np.abs(rows["mean"] - rows["theory"]).max())
        for quantity, value in (("within two errors", share_within_two(rows["apart"])), ("largest deviation", apart)):
            estimates.append({"quantity": quantity, "rule": rule, "value": value, "headline": True})
    return Summary(estimates)


FOUND, ALL = "share of keys found", "share of draws with all keys found"
LOAD = r"load $n\,\ln n\,/\,D^2$"
BARS = "bars: 68 % intervals"


def kind_of(rule: str) -> str:
    """Kind of theory of a rule."""
    return "exact up to 1/D²" if rule in ("outer", "pseudo_inverse") else "leading order in 1/D"


def panels(table: Table, summary: Summary) -> list[Panel]:
    """Share of keys found against n ln n / D², typical keys and all keys, theory as lines."""
    found, whole = summary.of(FOUND), summary.of(ALL)
    looks = series([str(size) for size in sorted(found["neurons"].unique())])
    shown = []
    for rule in dict.fromkeys(table["rule"]):
        rows = found[found["rule"] == rule]
        measured = panel.curves(rows, "load", "value", by="neurons", theory="theory", label="$D={}$", looks=looks)
        apart = f", {np.abs(rows['value'] - rows['theory']).max():.2g} apart at most"
        known = f"theory, {kind_of(rule)}" + ("" if kind_of(rule).startswith("exact") else apart)
        typical = [*measured, entry(known, **THEORY), guide(0.5)]
        shown.append(
            Panel(f"{rule}: keys found", Axis(LOAD), Axis("share of keys found", limits=SHARE), typical, legend=BARS)
        )
    return [*shown, *([_all_keys(whole)] if len(whole) else [])]


def _all_keys(whole: Table) -> Panel:
    """Draws in which every key is found, at the size at which all keys are asked for most often."""
    size = whole["neurons"].value_counts().idxmax()
    rows = whole[whole["neurons"] == size]
    share = Axis("share of draws", limits=SHARE)
    return Panel(
        f"all keys of a draw found, $D={size}$",
        Axis(LOAD),
        share,
        panel.curves(rows, "load", "value", by="rule"),
        legend=BARS,
    )

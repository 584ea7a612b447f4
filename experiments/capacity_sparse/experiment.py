"""Capacity of sparse patterns: how many a network holds by activity, and what disturbed couplings still hold.

    binary, balanced, spins   covariance rule on neurons {0, 1}, from whose states 0, the activity a, or ½ is taken off;
                              the last one is the ±1 form. Threshold: the best one at capacity.
    clipped, diluted:c, noisy:δ   Hebb's rule with unbiased patterns, of it signs, a share c, or noise of δ deviations
    hebb                      Hebb's rule as it is with patterns of mean m₀ = 1 − 2a: fails beyond 1/m₀² patterns
    willshaw                  binary synapses, log₂N neurons on in each pattern

Columns: shares of neurons on among those that should be (`on`) and should not (`off`), after one synchronous step from
the pattern (`_one`) and where asynchronous dynamics end; `retained` counts the patterns, of `asked`, for which their
difference ends above 0.8, `retained_0.5` and so on above other cuts, but no pattern without neurons on, or off;
`density` is the share of Willshaw's synapses that are on. Critical loads take the cut 0.8, as in capacity, and for the
covariance rule 0.5, as its overlap at capacity falls to 0.7 in theory; the summary has them at every cut.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments import contract
from experiments.capacity_sparse import rules
from experiments.capacity_sparse.config import CUTS, Config
from experiments.capacity_sparse.results import panels, summarise
from experiments.contract import Cost, Point, Row
from experiments.shared import draws, grids, loads
from experiments.shared.grids import Data, Draw, Each, Grid, Measured
from experiments.shared.notes import note
from hopfield.observables.overlaps import above

__all__ = ["X_AXIS", "Config", "check", "cost", "measure", "panels", "points", "summarise"]

X_AXIS = "load"
BIASED = f"from {rules.WIDELY_BIASED:g} to below 0.5"
"""Activities of Hebb's rule, which holds next to no patterns below, and becomes the unbiased rule at one half."""


def _curves(config: Config) -> list[tuple[str, int, float]]:
    """Rule, size and activity of every curve."""
    return [
        (rule, neurons, activity)
        for rule, neurons in product(config.rules, config.neurons)
        for activity in dict.fromkeys(rules.find(rule).activities(neurons, config.activities))
    ]


def _note_left_out(config: Config) -> None:
    """Note the activities at which Hebb's rule is not measured."""
    if "hebb" in config.rules:
        kept = rules.find("hebb").activities(min(config.neurons), config.activities)
        for activity in config.activities:
            if activity not in kept:
                note(f"activity {activity:g} of hebb is not {BIASED}: left out")


def _counts(config: Config, rule: str, neurons: int, activity: float) -> list[int]:
    """Numbers of patterns of a curve. They are odd where a field of an even number of signs could be zero."""
    around = loads.loads_at(config.around, config.between, neurons)
    found = (factor * rules.find(rule).unit(neurons, activity) for factor in around)
    odd = rules.find(rule).critical_load(activity) is not None and activity == 0.5
    return sorted({max(2, round(count)) if not odd else loads.odd(count, 3) for count in found})


def check(config: Config) -> None:
    """Check that activities leave every network two neurons on, and Hebb's rule some to measure; else ValueError."""
    least = min(config.activities) * min(config.neurons)
    if least < 2:
        raise ValueError(f"activities must leave 2 of the fewest neurons on, got {min(config.activities):g}")
    if "hebb" in config.rules and not rules.find("hebb").activities(min(config.neurons), config.activities):
        raise ValueError(f"activities must hold one {BIASED} for hebb, got {config.activities}")


def points(config: Config) -> list[Point]:
    """One point per rule, size, activity, number of patterns and sample."""
    _note_left_out(config)
    grid = []
    for rule, neurons, activity in _curves(config):
        for num_patterns in _counts(config, rule, neurons, activity):
            point = {"rule": rule, "neurons": neurons, "activity": activity, "patterns": num_patterns}
            grid += [point | {"sample": sample} for sample in range(loads.samples_at(config.samples, neurons))]
    return grid


def cost(config: Config) -> Cost:
    """Cost of all draws: couplings N² of M patterns, and the dynamics of the queries on them."""
    parts = []
    for rule, neurons, activity in _curves(config):
        counts = _counts(config, rule, neurons, activity)
        number = len(counts) * loads.samples_at(config.samples, neurons)
        elements = max(counts) * neurons + neurons**2
        parts.append(Cost(number, elements, number * neurons**2 * (max(counts) + 10.0 * config.queries)))
    return contract.total(parts)


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points, with columns of load and theory."""
    largest = draws.largest(points(config), "rule", "neurons", "activity")
    grid = _grid(lambda point: _program(point, largest(point), config.queries))
    yield from grids.rows(grid, config.seed, wanted, known_columns=_known_columns)


def _program(point: Point, largest: int, queries: int) -> draws.Rule:
    neurons = point["neurons"]
    padding = max(draws.rows_to_draw(point["patterns"], max(largest, queries), neurons), queries)
    return draws.Rule(point["rule"], neurons, padding, queries, neurons**2 * (padding + 10.0 * queries))


def _known_columns(point: Point) -> Row:
    key = point["rule"], point["neurons"], point["activity"], point["patterns"]
    return {"load": point["patterns"] / point["neurons"], "wrong_theory": rules.wrong_share(*key)}


def _grid(program: Callable[[Point], draws.Rule]) -> Grid:
    """Grid of draws, which depend on the seed, N, M, the activity and their number."""
    columns = {
        "strength": lambda point: rules.find(point["rule"]).number,
        "offset": lambda point: rules.find(point["rule"]).offset(point["activity"]),
        "threshold": lambda point: rules.find(point["rule"]).threshold(point["activity"]),
        "activity": lambda point: point["activity"],
    }
    traced = {name: (np.float32, column) for name, column in columns.items()}
    return Grid(program, one, {**draws.TRACED, **traced}, call_cost=2e10)


def one(program: draws.Rule, seed: Array, data: Data, draw: Draw, each: Each) -> Measured:
    """Shares on after one step and at the end, with how many patterns are retained."""
    key, other = draws.keys(seed, program.neurons, draw["num_patterns"], draw["sample"])
    rule, used = rules.find(program.rule), draws.in_use(program, draw)
    patterns = rule.patterns(jax.random.uniform(key, (program.padding, program.neurons)), draw["activity"])
    network = rule.network(patterns, used, other, draw)
    cues = patterns[: program.queries]
    valid = used[: program.queries]
    first, last, density = rule.ends(network, cues, other)
    (on_one, off_one), (on, off) = (_shares(cues, state, valid) for state in (first, last))
    retained = jax.vmap(lambda p, v: _shares(p[None], v[None], jnp.ones(1, bool)))(cues, last)
    some = valid & jnp.isfinite(retained[0] - retained[1])  # a pattern with no neuron on, or off, has no such share
    wrong = jnp.sum(jnp.where(valid[:, None], jnp.abs(first - cues), 0.0)) / (jnp.sum(valid) * program.neurons)
    return {
        "on_one": on_one,
        "off_one": off_one,
        "wrong_one": wrong,
        "on": on,
        "off": off,
        **{name: jnp.sum(some & above(retained[0] - retained[1], cut)) for name, cut in CUTS.items()},
        "asked": jnp.sum(some),
        "density": jnp.asarray(density),
    }


def _shares(patterns: Array, states: Array, valid: Array) -> tuple[Array, Array]:
    """Fractions of neurons that are on, among neurons on in the patterns and among neurons off in the patterns."""
    use = valid[:, None].astype(patterns.dtype)
    on, off = jnp.sum(use * patterns), jnp.sum(use * (1 - patterns))
    return jnp.sum(use * patterns * states) / on, jnp.sum(use * (1 - patterns) * states) / off

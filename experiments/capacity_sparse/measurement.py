"""One draw of sparse patterns: storage, one step from a pattern, and the end of asynchronous dynamics."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments.capacity_sparse import rules
from experiments.contract import Point
from experiments.shared import draws
from experiments.shared.grids import Data, Draw, Each, Grid, Measured
from hopfield.observables.overlaps import above

CUT = 0.5
"""Difference of the shares that are on above which a pattern is retained; theory's least is 0.7."""


def grid(program: Callable[[Point], draws.Rule]) -> Grid:
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
        "retained": jnp.sum(some & (above(retained[0] - retained[1], CUT))),
        "asked": jnp.sum(some),
        "density": jnp.asarray(density),
    }


def _shares(patterns: Array, states: Array, valid: Array) -> tuple[Array, Array]:
    """Fractions of neurons that are on, among neurons on in the patterns and among neurons off in the patterns."""
    use = valid[:, None].astype(patterns.dtype)
    on, off = jnp.sum(use * patterns), jnp.sum(use * (1 - patterns))
    return jnp.sum(use * patterns * states) / on, jnp.sum(use * (1 - patterns) * states) / off

"""One draw of sparse patterns: what is stored, one step from a pattern, and the end of asynchronous dynamics."""

import jax
import jax.numpy as jnp
import numpy as np

from experiments.bounds import named
from experiments.capacity_sparse import theory
from experiments.capacity_sparse.config import COVARIANCE
from experiments.shared import draws
from experiments.shared.program import Grid
from hopfield import Couplings, disturbances
from hopfield.binary import BinaryNetwork, covariance_network, willshaw_network
from hopfield.dynamics.asynchronous import relax
from hopfield.observables.overlaps import above

CUT = 0.5
"""Difference of the shares that are on above which a pattern is retained; theory's least is 0.7."""
SWEEPS = 200


def grid(program) -> Grid:
    """Grid of draws, which depend on the seed, N, M, the activity and their number."""
    columns = {
        "strength": lambda point: named(point["rule"])[1] or 0.0,
        "offset": lambda point: theory.offset(point["rule"], point["activity"]),
        "threshold": lambda point: theory.threshold(point["rule"], point["activity"]),
        "activity": lambda point: point["activity"],
    }
    traced = {name: (np.float32, column) for name, column in columns.items()}
    return Grid(program, one, {**draws.COLUMNS, **traced}, chunk=2e10)


def one(program: draws.Rule, seed, data, draw: dict, each: dict) -> dict:
    """Shares on after one step and at the end, with how many patterns are retained."""
    key, other = draws.keys(seed, program.neurons, draw["num_patterns"], draw["sample"])
    patterns = _patterns(program, key, draw["activity"])
    used = draws.in_use(program, draw)
    network = _network(program.rule, patterns, used, other, draw)
    cues = patterns[: program.queries]
    valid = used[: program.queries]
    if program.rule == "willshaw":
        fields = cues @ network.matrix  # the neurons of a cue keep themselves on, others need all their synapses
        first = jnp.where((cues == 1) | (fields > theory.active(program.neurons) - 0.5), 1.0, 0.0)
        last, density = first, jnp.sum(network.matrix) / (program.neurons * (program.neurons - 1))
    else:
        couplings = network.couplings() if isinstance(network, BinaryNetwork) else network
        first = (1 + jax.vmap(couplings.update)(2 * cues - 1)) / 2
        ends = jax.vmap(lambda x: relax(couplings, x, dynamics="asynchronous", key=other, max_sweeps=SWEEPS).state)(
            2 * cues - 1
        )
        last, density = (1 + ends) / 2, jnp.nan
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


def _patterns(program: draws.Rule, key, activity):
    """Independent neurons, on with a chance of the activity; or as many of them on in each, of Willshaw's memory."""
    chance = jax.random.uniform(key, (program.padding, program.neurons))
    if program.rule != "willshaw":
        return jnp.where(chance < activity, 1.0, 0.0)
    least = jax.lax.top_k(chance, theory.active(program.neurons))[0][:, -1:]
    return jnp.where(chance >= least, 1.0, 0.0)


def _network(rule: str, patterns, used, key, draw: dict) -> BinaryNetwork | Couplings:
    """The network that the patterns in use are stored in."""
    name = named(rule)[0]
    if name == "willshaw":
        return willshaw_network(patterns, mask=used)
    if name in COVARIANCE:
        numbers = {name: draw[name] for name in ("threshold", "offset")}
        return covariance_network(patterns, draw["activity"], mask=used, **numbers)
    spins = jnp.where(used[:, None], 2 * patterns - 1, 0.0)
    hebb = Couplings.create(spins.T @ spins, 1.0 / patterns.shape[1])
    if name == "clipped":
        return disturbances.clipped(hebb)
    more = {"diluted": disturbances.diluted, "noisy": disturbances.noisy}
    return more[name](hebb, key, draw["strength"]) if name in more else hebb


def _shares(patterns, states, valid):
    """Shares of neurons on among those that should be, and among those that should not."""
    use = valid[:, None].astype(patterns.dtype)
    on, off = jnp.sum(use * patterns), jnp.sum(use * (1 - patterns))
    return jnp.sum(use * patterns * states) / on, jnp.sum(use * (1 - patterns) * states) / off

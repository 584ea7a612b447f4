"""Memories that learn: parameters of metric, β and separation, the memory they make, and its answer to a query."""

from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx
from jaxtyping import Array

from experiments.capacity_learned import families
from experiments.capacity_learned.config import LEARNED, Kind
from experiments.capacity_learned.families import Params
from hopfield import Memory, metrics
from hopfield.dynamics.fixed_points import implicit, neumann
from hopfield.dynamics.settling import near, settled
from hopfield.layers.metrics import learned_metric
from hopfield.similarities import Bilinear, Manhattan, Similarity

FLAT = 1e-4
"""Eigenvalue of the second moment of a draw, in units of their mean, up to which it counts as zero."""
STILL = 1e-5
"""Relative step that ends an iterated answer."""


class Distance(Bilinear):
    """s_μ = x g ξ_μ − ½ ξ_μ g ξ_μ: of a symmetric g the distance −½ (x − ξ_μ) g (x − ξ_μ) up to what all share."""

    def __call__(self, state: Array, patterns: Array) -> Array:
        left, right = self.metric.left(patterns), self.metric.right(patterns)
        return right @ self.metric.left(state[None, :])[0] - 0.5 * jnp.sum(left * right, axis=1)


def start(kind: Kind, neurons: int, key: Array) -> Params:
    """Parameters that learning starts with: β = 1 in the unit that `build` is given, and a metric near the identity."""
    params: Params = {"log_beta": jnp.zeros((), jnp.float32)}
    params |= families.start(kind.separation)
    if kind.metric in LEARNED:
        params["metric"] = nnx.split(learned_metric(kind.metric, neurons, rngs=nnx.Rngs(key)))[1]
    return params


def dense(kind: Kind, params: Params, given: Array) -> Array:
    """Metric as a matrix [N, N]: learned if the kind learns one, else `given`."""
    return _metric(kind, params, given).dense()


def _metric(kind: Kind, params: Params, given: Array) -> metrics.Metric:
    if kind.metric not in LEARNED:
        return metrics.Full(given)
    blank = nnx.eval_shape(lambda: learned_metric(kind.metric, len(given), rngs=nnx.Rngs(0)))
    return nnx.merge(nnx.graphdef(blank), params["metric"])()


def _of_draw(stored: Array, mask: Array) -> Array:
    """The pseudo-inverse of the second moment of stored patterns, with linear weights the projection on their span."""
    used = jnp.where(mask[:, None], stored, 0.0)
    moment = used.T @ used / jnp.sum(mask)
    levels, axes = jnp.linalg.eigh(moment)
    unit = jnp.mean(levels)
    kept = levels > FLAT * unit
    return (axes * jnp.where(kept, unit / jnp.where(kept, levels, 1.0), 0.0)[None, :]) @ axes.T


def build(kind: Kind, params: Params, given: Array, unit: Array, stored: Array, mask: Array) -> Memory:
    """Memory of stored patterns [M, N], its parts as the kind names them, at the learned parameters.

    Args:
        kind: its parts.
        params: as `start` makes them.
        given: the fixed metric [N, N]; not used if one is learned.
        unit: the β that learning starts with.
        stored: patterns [M, N], those in use by `mask`.
    """
    metric = metrics.Full(_of_draw(stored, mask)) if kind.metric == "projection" else _metric(kind, params, given)
    compared: Similarity = Manhattan()
    if kind.similarity != "manhattan":
        compared = Bilinear(metric) if kind.similarity == "dot" else Distance(metric)
    beta = unit * jnp.exp(params["log_beta"])
    return Memory(stored, beta, mask=mask, similarity=compared, separation=families.separation(kind.separation, params))


def shares(kind: Kind, memory: Memory, state: Array) -> Array:
    """Weights of the answer [M]. They sum to one, except linear weights, which are scores over M."""
    if kind.separation == "linear":
        return memory.weights(state) / jnp.sum(memory.mask)  # type: ignore[arg-type]
    return memory.shares(state)


def answer(kind: Kind, memory: Memory, query: Array, max_steps: int) -> Array:
    """Σ p ξ read once, or where reading the answer again and again ends, differentiated as a fixed point."""

    stored: Any = memory.patterns

    def read(state: Array) -> Array:
        return shares(kind, memory, state) @ stored

    if kind.dynamics == "single":
        return read(query)
    reached = lambda x: settled(read, x, max_steps, near(STILL, x)).state
    return implicit(read, jax.lax.stop_gradient(query), reached, neumann(max_steps))

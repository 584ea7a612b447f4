"""Networks on bags: a Hopfield pooling, an attention pooling and scores of single instances, trained many at a time."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

from experiments.bags.data import Bags, standardise
from experiments.shared import parallel, training_loops
from hopfield.layers import AssociationOptions, HopfieldAttention, HopfieldPooling


class Structure(NamedTuple):
    """Structure of a network and its training: what a program is compiled for."""

    method: str
    variant: str
    features: int
    width: int
    heads: int
    queries: int
    steps: tuple[int, ...]
    members: int
    dropout: float
    learning_rate: float


class Network(nnx.Module):
    """Score of every bag [B].

    hopfield      embedded instances are stored, and read by learned queries (HopfieldPooling), with a learned β
    attention     their mean, weighted by a learned score, plain or gated (Ilse et al. 2018, eqs. 8 and 9)
    instances     the largest of their scores, which are linear in the features, or in the embedding
    """

    def __init__(self, kind: Structure, rngs: nnx.Rngs) -> None:
        self.kind = kind
        bare = kind.variant == "linear"
        self.embed = nnx.Linear(kind.features, 1 if bare else kind.width, rngs=rngs)
        if kind.method == "hopfield":
            own = AssociationOptions(separation=kind.variant, learn_beta=True)
            self.pool = HopfieldPooling(
                HopfieldAttention(kind.heads, kind.width, options=own, rngs=rngs), kind.queries, rngs=rngs
            )
        if kind.method == "attention":
            self.hidden = nnx.Linear(kind.width, kind.width, rngs=rngs)
            self.gate = nnx.data(nnx.Linear(kind.width, kind.width, rngs=rngs) if kind.variant == "gated" else None)
            self.weigh = nnx.Linear(kind.width, 1, rngs=rngs)
        pooled = kind.queries * kind.width if kind.method == "hopfield" else kind.width
        self.read = nnx.data(None if bare else nnx.Linear(pooled, 1, rngs=rngs))

    def __call__(self, instances: jax.Array, place: jax.Array, there: jax.Array, keep: jax.Array) -> jax.Array:
        """Scores [B] of bags, whose places [B, S] refer to the instances [N, F] where `there` is true."""
        embedded = self.embed(instances)[place]
        if self.read is None:
            return jnp.max(embedded[..., 0], axis=1, where=there, initial=-jnp.inf)
        embedded = nnx.relu(embedded) * keep
        if self.kind.method == "instances":
            return jnp.max(self.read(embedded)[..., 0], axis=1, where=there, initial=-jnp.inf)
        if self.kind.method == "hopfield":
            return self.read(self.pool(embedded, mask=there[:, None, None, :]))[..., 0]
        hidden = jnp.tanh(self.hidden(embedded))
        hidden = hidden if self.gate is None else hidden * jax.nn.sigmoid(self.gate(embedded))
        weights = jax.nn.softmax(self.weigh(hidden)[..., 0], axis=1, where=there)
        return self.read(jnp.einsum("bs,bsw->bw", weights, embedded))[..., 0]


def scores(kind: Structure, bags: Bags, used: np.ndarray, decay: float, key: jax.Array) -> np.ndarray:
    """Scores of all bags, after each number of steps, by members of one structure that answer together.

    Args:
        kind: what is trained.
        bags: each network sees its own.
        used: [K, B], bags that the members of an ensemble are trained on.
        decay: of their weights.
        key: of initial values and dropout.

    Returns:
        [K, steps, B], means over the members.
    """
    instances = jnp.asarray([standardise(bags, row) for row in used])
    each = (instances, jnp.asarray(used, jnp.float32), jax.random.split(key, len(used)))
    fixed = (
        jnp.asarray(bags.place),
        jnp.asarray(bags.there),
        jnp.asarray(bags.labels, jnp.float32),
        jnp.asarray(decay, jnp.float32),
    )
    return np.asarray(_program(kind)(fixed, each))


@parallel.locked_cache(32)
def _program(kind: Structure) -> Callable:
    network = training_loops.network(partial(Network, kind))

    def scores_after_training(fixed: tuple, instances: jax.Array, used: jax.Array, key: jax.Array) -> jax.Array:
        place, there, labels, decay = fixed
        start, draws = jax.random.split(key)
        rule = optax.adamw(kind.learning_rate, weight_decay=decay)

        def loss(params: Any, keep: jax.Array) -> jax.Array:
            found = network.module(params)(instances, place, there, keep)
            sign = 2.0 * labels - 1.0
            hinge = kind.method == "instances"
            each = jnp.maximum(1.0 - sign * found, 0.0) if hinge else jax.nn.softplus(-sign * found)
            return jnp.sum(used * each) / jnp.sum(used)

        def step(carry: tuple, key: jax.Array) -> tuple[tuple, None]:
            params, state = carry
            keep = training_loops.dropout(key, kind.dropout, (len(labels), 1, kind.width))
            change, state = rule.update(jax.grad(loss)(params, keep), state, params)
            return (optax.apply_updates(params, change), state), None

        params, done, found = network.start(start), 0, []
        carry = params, rule.init(params)
        for part, until in enumerate(kind.steps):
            keys = jax.random.split(jax.random.fold_in(draws, part), until - done)
            (carry, _), done = jax.lax.scan(step, carry, keys), until
            found.append(network.module(carry[0])(instances, place, there, jnp.ones(())))
        return jnp.stack(found)

    def ensemble(fixed: tuple, each: tuple) -> jax.Array:
        instances, used, key = each
        keys = jax.random.split(key, kind.members)
        return jax.vmap(lambda key: scores_after_training(fixed, instances, used, key))(keys).mean(axis=0)

    return jax.jit(lambda fixed, each: jax.lax.map(partial(ensemble, fixed), each))

"""Training of one model for every learning rate at once, until validation is solved or the epochs are over."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

from experiments.mqar import model, tasks
from experiments.mqar.config import SOLVED, Config
from experiments.shared import parallel

SLICE = 250
"""Sequences answered together by the head set by hand and in validation."""


class Program(NamedTuple):
    """Structure of a compiled training: the model, and the sizes of what it is trained on."""

    kind: model.Structure
    pairs: int
    examples: int
    held: int
    batch: int


class Compiled(NamedTuple):
    """Functions of a structure: start(key, rates) and epoch(state, train, key, rates, decay), judged(state, part)."""

    start: Any
    epoch: Any
    judged: Any


def seen(config: Config, point: dict) -> tuple[tasks.Recall, ...]:
    """Sequences of training, validation and test of a seed; the same for all mixers and widths."""
    key = jax.random.fold_in(jax.random.key(config.seed), point["seed_index"])
    key = jax.random.fold_in(jax.random.fold_in(key, point["length"]), point["pairs"])
    sizes = (config.examples, config.held, config.held)
    numbers = (point["length"], point["pairs"], config.vocabulary, config.filler)
    return tuple(tasks.drawn(k, size, *numbers) for k, size in zip(jax.random.split(key, 3), sizes, strict=True))


def result(config: Config, point: dict) -> dict:
    """Accuracy of a mixer in test, at the rate that validation chooses.

    Returns:
        accuracy: share of the asked keys whose value is the largest logit.
        held: the same in validation, by which rate and end were chosen.
        learning_rate, epochs: those of the result; none of the head set by hand.
        contradicted: share of the asked pairs in test that random tokens contradict.
    """
    train, held, test = seen(config, point)
    about = {"contradicted": float(tasks.contradicted(test, point["pairs"]).mean())}
    if point["mixer"] == "by_hand":
        right = [float(_answered(part, config.vocabulary)) for part in (test, held)]
        return {"accuracy": right[0], "held": right[1], "learning_rate": None, "epochs": 0} | about
    return _trained(config, point, train, held, test) | about


def _trained(config: Config, point: dict, train: tasks.Recall, held: tasks.Recall, test: tasks.Recall) -> dict:
    kind = model.Structure(
        point["mixer"], point["width"], point["length"], config.vocabulary, config.update_steps, config.dropout
    )
    made = _compiled(
        Program(kind, point["pairs"], config.examples, config.held, min(config.batch_size, config.examples))
    )
    key = jax.random.fold_in(jax.random.key(config.seed + 1), point["seed_index"])
    rates = jnp.asarray(config.learning_rates, jnp.float32)
    state, found = made.start(key, rates), {}
    for number in range(1, config.epochs + 1):
        state = made.epoch(state, train, jax.random.fold_in(key, number), rates, jnp.float32(config.weight_decay))
        right = np.asarray(made.judged(state, held))
        best = int(np.argmax(right))
        if not found or right[best] > found["held"]:
            answers = float(np.asarray(made.judged(state, test))[best])
            found = {"accuracy": answers, "held": float(right[best]), "learning_rate": config.learning_rates[best]}
            found["epochs"] = number
        if found["held"] >= SOLVED:
            break
    return found


@parallel.kept(32)
def _compiled(program: Program) -> Compiled:
    kind = program.kind
    graph, _, rest = nnx.split(model.Model(kind, nnx.Rngs(0)), nnx.Param, ...)
    rule = optax.scale_by_adam()

    def logits(params: Any, part: tasks.Recall, keep: jax.Array) -> jax.Array:
        return nnx.merge(graph, params, rest)(part.tokens, part.asked, keep)

    @jax.jit
    def start(key: jax.Array, rates: jax.Array) -> Any:
        params = nnx.split(model.Model(kind, nnx.Rngs(key)), nnx.Param, ...)[1]
        both = params, rule.init(params)
        return jax.tree.map(lambda x: jnp.broadcast_to(x, (len(rates), *x.shape)), both)

    def step(carry: tuple, batch: tasks.Recall, rate: jax.Array, decay: jax.Array) -> tuple[tuple, None]:
        params, state, key = carry
        key, drop = jax.random.split(key)
        kept = 1.0 - kind.dropout
        keep = jax.random.bernoulli(drop, kept, (program.batch, kind.width)) / kept

        def loss(params: Any) -> jax.Array:
            return optax.softmax_cross_entropy_with_integer_labels(logits(params, batch, keep), batch.values).mean()

        change, state = rule.update(jax.grad(loss)(params), state, params)
        params = jax.tree.map(lambda p, c: p - rate * (c + decay * p), params, change)
        return (params, state, key), None

    @jax.jit
    def epoch(state: Any, train: tasks.Recall, key: jax.Array, rates: jax.Array, decay: jax.Array) -> Any:
        order, draws = jax.random.split(key)
        rows = jax.random.permutation(order, program.examples)
        rows = rows[: program.examples // program.batch * program.batch].reshape(-1, program.batch)

        def one(state: Any, rate: jax.Array) -> Any:
            go = lambda carry, row: step(carry, jax.tree.map(lambda x: x[row], train), rate, decay)  # noqa: E731
            return jax.lax.scan(go, (*state, draws), rows)[0][:2]

        return jax.vmap(one)(state, rates)

    @jax.jit
    def judged(state: Any, part: tasks.Recall) -> jax.Array:
        def right(row: tasks.Recall) -> jax.Array:
            one = jax.tree.map(lambda x: x[None], row)
            every = jax.vmap(lambda params: logits(params, one, jnp.ones((1, kind.width))))(state[0])
            return jnp.mean(jnp.argmax(every[:, 0], axis=-1) == row.values[None], axis=-1)

        return jnp.mean(jax.lax.map(right, part, batch_size=SLICE), axis=0)

    return Compiled(start, epoch, judged)


def _answered(part: tasks.Recall, vocabulary: int) -> jax.Array:
    """Share of right answers of the head set by hand."""

    def right(row: tasks.Recall) -> jax.Array:
        return jnp.mean(model.by_hand(row.tokens, row.asked, vocabulary) == row.values)

    return jnp.mean(jax.lax.map(right, part, batch_size=SLICE))

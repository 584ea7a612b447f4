"""Training of one model for every learning rate at once, until validation is solved or the epochs are over."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from experiments.contract import Point
from experiments.mqar import model, tasks
from experiments.mqar.config import SOLVED, Config
from experiments.shared import parallel, training_loops

SLICE = 250
"""Sequences answered together by the hand-constructed head and in validation."""


class Program(NamedTuple):
    """Structure of a compiled training: the model and the sizes of its training data."""

    kind: model.Structure
    pairs: int
    examples: int
    held: int
    batch: int


class Compiled(NamedTuple):
    """Functions of a structure: start(key, rates) and epoch(state, train, key, rates, decay), correct(state, part)."""

    start: Callable
    epoch: Callable
    correct: Callable


def sequences_of(config: Config, point: Point) -> tuple[tasks.Recall, ...]:
    """Sequences of training, validation and test of a seed. They are the same for all mixers and widths."""
    key = jax.random.fold_in(jax.random.key(config.seed), point["seed_index"])
    key = jax.random.fold_in(jax.random.fold_in(key, point["length"]), point["pairs"])
    sizes = (config.examples, config.held, config.held)
    numbers = (point["length"], point["pairs"], config.vocabulary, config.filler)
    return tuple(
        tasks.draw_sequences(k, size, *numbers) for k, size in zip(jax.random.split(key, 3), sizes, strict=True)
    )


def result(config: Config, point: Point) -> dict:
    """Accuracy of a mixer in test, at the rate that validation chooses.

    Returns:
        accuracy: share of the asked keys whose value is the largest logit.
        held: the same in validation, by which rate and end were chosen.
        learning_rate, epochs: those of the result; none of the hand-constructed head.
        contradicted: share of the asked pairs in test that random tokens contradict.
    """
    train, held, test = sequences_of(config, point)
    about = {"contradicted": float(tasks.contradicted(test, point["pairs"]).mean())}
    if point["mixer"] == "by_hand":
        right = [float(_hand_constructed_accuracy(part, config.vocabulary)) for part in (test, held)]
        return {"accuracy": right[0], "held": right[1], "learning_rate": None, "epochs": 0} | about
    return _train_and_test(config, point, train, held, test) | about


def _train_and_test(
    config: Config, point: Point, train: tasks.Recall, validation: tasks.Recall, test: tasks.Recall
) -> dict:
    kind = model.Structure(
        point["mixer"], point["width"], point["length"], config.vocabulary, config.update_steps, config.dropout
    )
    made = _compiled(
        Program(kind, point["pairs"], config.examples, config.held, min(config.batch_size, config.examples))
    )
    key = jax.random.fold_in(jax.random.key(config.seed + 1), point["seed_index"])
    rates = jnp.asarray(config.learning_rate, jnp.float32)
    state, outcome = made.start(key, rates), {}
    for number in range(1, config.epochs + 1):
        state = made.epoch(state, train, jax.random.fold_in(key, number), rates, jnp.float32(config.weight_decay))
        right = np.asarray(made.correct(state, validation))
        best = int(np.argmax(right))
        if not outcome or right[best] > outcome["held"]:
            answers = float(np.asarray(made.correct(state, test))[best])
            outcome = {"accuracy": answers, "held": float(right[best]), "learning_rate": config.learning_rate[best]}
            outcome["epochs"] = number
        if outcome["held"] >= SOLVED:
            break
    return outcome


@parallel.locked_cache(32)
def _compiled(program: Program) -> Compiled:
    kind = program.kind
    network = training_loops.network(partial(model.Model, kind))

    def epoch(state: Any, train: tasks.Recall, key: jax.Array, rates: jax.Array, decay: jax.Array) -> Any:
        order, draws = jax.random.split(key)
        rows = training_loops.batches(order, program.examples, program.batch)

        def train_at_rate(state: Any, rate: jax.Array) -> Any:
            step = _step(program, network, optax.adamw(rate, weight_decay=decay))
            go = lambda carry, row: (step(carry, jax.tree.map(lambda x: x[row], train)), None)
            return jax.lax.scan(go, (*state, draws), rows)[0][:2]

        return jax.vmap(train_at_rate)(state, rates)

    def start(key: jax.Array, rates: jax.Array) -> Any:
        params = network.start(key)
        both = params, optax.adamw(0.0).init(params)
        return jax.tree.map(lambda x: jnp.broadcast_to(x, (len(rates), *x.shape)), both)

    def correct(state: Any, part: tasks.Recall) -> jax.Array:
        def share_right(row: tasks.Recall) -> jax.Array:
            tokens, asked, keep = row.tokens[None], row.asked[None], jnp.ones((1, kind.width))
            every = jax.vmap(lambda params: network.module(params)(tokens, asked, keep))(state[0])
            return jnp.mean(jnp.argmax(every[:, 0], axis=-1) == row.values[None], axis=-1)

        return jnp.mean(jax.lax.map(share_right, part, batch_size=SLICE), axis=0)

    return Compiled(jax.jit(start), jax.jit(epoch), jax.jit(correct))


def _step(program: Program, network: training_loops.Network, rule: optax.GradientTransformation) -> Callable:
    """Function that takes parameters, the rule's state and a key through one step of the rule on a batch."""

    def step(carry: tuple, batch: tasks.Recall) -> tuple:
        params, state, key = carry
        key, drop = jax.random.split(key)
        keep = training_loops.dropout(drop, program.kind.dropout, (program.batch, program.kind.width))

        def loss(params: Any) -> jax.Array:
            logits = network.module(params)(batch.tokens, batch.asked, keep)
            return optax.softmax_cross_entropy_with_integer_labels(logits, batch.values).mean()

        change, state = rule.update(jax.grad(loss)(params), state, params)
        return optax.apply_updates(params, change), state, key

    return step


def _hand_constructed_accuracy(part: tasks.Recall, vocabulary: int) -> jax.Array:
    """Share of right answers of the hand-constructed head."""

    def share_right(row: tasks.Recall) -> jax.Array:
        return jnp.mean(model.by_hand(row.tokens, row.asked, vocabulary) == row.values)

    return jnp.mean(jax.lax.map(share_right, part, batch_size=SLICE))

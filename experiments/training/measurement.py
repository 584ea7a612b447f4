"""Training of one run: epochs compiled whole, with checkpoints, from which it resumes."""

import functools
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

from experiments.contract import Row
from experiments.shared.training_loops import batches, dropout
from experiments.training import layers, optimisers
from experiments.training.checkpoints import load, save
from experiments.training.layer import Layer
from experiments.training.model import Batch, Classifier
from experiments.training.rows import columns_of_epoch, diagnostics, with_divergence
from experiments.training.settings import Knobs, Setting, without_rule
from experiments.training.tasks import Part, Split
from hopfield import outside


class Model(NamedTuple):
    """Compiled functions of a setting that do not depend on the optimiser. Parameters have a leading axis of members.

    start(key, data) -> params, rest; outputs(params, rest, batch) -> logits [B, members, classes];
    observe(params, rest, validation, test) -> what is measured.
    """

    start: Any
    outputs: Callable
    observe: Callable


class Rules(NamedTuple):
    """Compiled functions of a setting.

    start(key, data, knobs) -> params, state, rest; epoch(params, state, rest, part, key, knobs) -> params, state, loss;
    observe as `Model` does.
    """

    start: Any
    epoch: Callable
    observe: Callable


def _dropout_features(setting: Setting, features: int) -> int:
    """Features of an input that dropout blanks."""
    return setting.width if layers.find(setting.layer).embeds else features


def _model(setting: Setting, places: int, features: int, classes: int) -> Model:
    return _compiled_model(setting, layers.find(setting.layer), places, features, classes)


@functools.lru_cache(maxsize=16)
def _compiled_model(setting: Setting, layer: Layer, places: int, features: int, classes: int) -> Model:
    """Functions of a setting whose layer is `layer`: once its file is changed, that is another one."""
    like = Part(np.zeros((places, 1, features), np.float32), np.zeros(places, np.int32))
    graph = nnx.split(Classifier(setting, like, classes, nnx.Rngs(0)), nnx.Param, ...)[0]
    kept = _dropout_features(setting, features)

    def outputs(params: Any, rest: Any, batch: Batch) -> jax.Array:
        every = jax.vmap(lambda one: nnx.merge(graph, one, rest)(batch), out_axes=1)
        return every(params)

    @jax.jit
    def start(key: jax.Array, data: Part) -> tuple[Any, Any]:
        def start_member(key: jax.Array) -> tuple[Any, Any]:
            _, params, rest = nnx.split(Classifier(setting, data, classes, nnx.Rngs(key)), nnx.Param, ...)
            return params, rest

        params, rest = jax.vmap(start_member)(jax.random.split(key, setting.members))
        return params, jax.tree.map(lambda x: x[0], rest)

    @jax.jit
    def observe(params: Any, rest: Any, held: Part, test: Part) -> dict[str, Any]:
        shown = [
            Batch(jnp.asarray(p.inputs), jnp.full(len(p.targets), -1), jnp.ones((len(p.targets), kept)))
            for p in (held, test)
        ]
        logits, final = (_log_mean_probability(outputs(params, rest, batch)) for batch in shown)
        seen = jax.vmap(lambda one: nnx.merge(graph, one, rest).observe(shown[0]))(params)
        return {"loss": _loss(logits, jnp.asarray(held.targets)), "logits": logits, "final": final, "seen": seen}

    return Model(start, outputs, observe)


def check_traceable(setting: Setting, shape: tuple[int, int, int]) -> None:
    """Trace everything of a model but its optimiser, for inputs of a shape [N, T, F]: what it raises, it raises now."""
    like, key = _untrained(shape)

    def every(key: jax.Array) -> tuple:
        made = _model(without_rule(setting), shape[0], shape[2], 2)
        return made.observe(*made.start(key, like), like, like)

    outside.called("layers", setting.layer, jax.eval_shape, every, key)


def check_trainable(setting: Setting, shape: tuple[int, int, int]) -> None:
    """Trace an epoch of a model that can be traced, for inputs of a shape [N, T, F]: what its optimiser raises."""
    like, key = _untrained(shape)

    def every(key: jax.Array) -> tuple:
        made, knobs = rules(setting, shape[0], shape[2], 2), Knobs(*(0.5 for _ in Knobs._fields))
        params, state, rest = made.start(key, like, knobs)
        return made.epoch(params, state, rest, like, key, knobs)

    outside.called("optimisers", setting.optimiser, jax.eval_shape, every, key)


def _untrained(shape: tuple[int, int, int]) -> tuple[Part, Any]:
    """Zeros as inputs [N, T, F] with classes [N], and the abstract type of a random key: what tracing takes."""
    return Part(np.zeros(shape, np.float32), np.zeros(shape[0], np.int32)), jax.eval_shape(jax.random.key, 0)


def _step(setting: Setting, network: Model, dropout_features: int) -> Callable:
    """One step of an optimiser on one batch, for `jax.lax.scan` over an epoch."""

    def step(carry: tuple, batch: tuple, rest: Any, knobs: Knobs) -> tuple:
        part, place = batch
        params, state, key = carry
        key, draw, shake, drop = jax.random.split(key, 4)
        inputs = part.inputs + knobs.noise * jax.random.normal(shake, part.inputs.shape, part.inputs.dtype)
        shown = Batch(inputs, place, dropout(drop, knobs.dropout, (len(place), dropout_features)))

        def model(params: Any, shown: Batch) -> jax.Array:
            return network.outputs(params, rest, shown)

        rule = optimisers.rule(setting, knobs, model, _loss)
        targets = jnp.broadcast_to(part.targets[:, None], (len(place), setting.members))
        params, state, value = rule.step(params, state, shown, targets, draw)
        return (params, state, key), value

    return step


def rules(setting: Setting, places: int, features: int, classes: int) -> Rules:
    """Compiled functions of a setting. Runs that differ in data, seed, knobs or optimiser share all that they can."""
    model = _model(without_rule(setting), places, features, classes)
    return _compiled_rules(setting, model, optimisers.find(setting.optimiser), _dropout_features(setting, features))


@functools.lru_cache(maxsize=16)
def _compiled_rules(setting: Setting, made: Model, optimiser: Any, dropout_features: int) -> Rules:
    """Compiled functions of a setting. A user-defined optimiser whose file is changed is another `optimiser`."""
    step = _step(setting, made, dropout_features)

    @jax.jit
    def state_of(params: Any, knobs: Knobs) -> Any:
        return optimisers.rule(setting, knobs, made.outputs, _loss).init(params)

    def start(key: jax.Array, data: Part, knobs: Knobs) -> tuple[Any, Any, Any]:
        params, rest = made.start(key, data)
        return params, state_of(params, knobs), rest

    @jax.jit
    def epoch(params: Any, state: Any, rest: Any, part: Part, key: jax.Array, knobs: Knobs) -> tuple[Any, Any, Any]:
        order, draws = jax.random.split(key)
        total = len(part.targets)
        rows = batches(order, total, min(setting.batch_size, total))
        shuffled = jax.tree.map(lambda x: x[rows], part), rows
        go = functools.partial(step, rest=rest, knobs=knobs)
        (params, state, _), losses = jax.lax.scan(go, (params, state, draws), shuffled)
        return params, state, losses.mean()

    return Rules(start, epoch, made.observe)


def _loss(logits: jax.Array, targets: jax.Array) -> jax.Array:
    targets = jnp.broadcast_to(targets, logits.shape[:-1])
    return optax.softmax_cross_entropy_with_integer_labels(logits, targets).mean()


def _log_mean_probability(logits: jax.Array) -> jax.Array:
    """Logarithm of the mean of all members' probabilities [B, classes]."""
    return jax.nn.logsumexp(jax.nn.log_softmax(logits), axis=1) - jnp.log(logits.shape[1])


class Length(NamedTuple):
    """Epochs at most, epochs without a lower validation loss before the end, and epochs between two checkpoints."""

    epochs: int
    patience: int
    every: int
    cosine: bool
    """The learning rate falls to zero over all epochs, as a cosine (True), or stays."""


def curve(setting: Setting, knobs: Knobs, data: Split, seed: int, path: Path, length: Length) -> Iterator[Row]:
    """Rows of all epochs of a run, the first before any training. Test values are those at the best validation loss.

    Args:
        setting, knobs: what is trained and how.
        data: of the task.
        seed: of initial values, order of batches and noise.
        path: where the run is saved, and resumed from if it is there.
        length: of the run.

    Returns:
        One row per epoch, 0 … `length.epochs`. After `length.patience` epochs without a lower validation loss, or once
        it has diverged, the training ends, and the rows that are left repeat the last, with `stopped`. A run has
        `diverged` at the first epoch whose training or validation loss is not finite or is more than `rows.RISE` times
        the validation loss before any training; it has no test results from there on.
    """
    made = rules(setting, len(data.train.targets), data.train.inputs.shape[-1], data.classes)
    train, held, test = (jax.tree.map(jnp.asarray, part) for part in data[:3])
    start, order = jax.random.split(jax.random.key(seed))
    params, state, rest = made.start(start, train, knobs)
    saved = load(path, (params, state))
    (params, state), rows = saved if saved else ((params, state), [])
    yield from rows
    for number in range(len(rows), length.epochs + 1):
        if rows and (_has_ended(rows[-1]) or number - 1 - rows[-1]["best_epoch"] >= length.patience):
            rows.append(rows[-1] | {"epoch": number, "stopped": True})
        else:
            loss = float("nan")
            if number:
                key = jax.random.fold_in(order, number)
                now = knobs._replace(learning_rate=knobs.learning_rate * _share(length, number))
                params, state, loss = made.epoch(params, state, rest, train, key, now)
            row = {"epoch": number, "train_loss": float(loss), "stopped": False}
            values = jax.device_get(made.observe(params, rest, held, test))
            rows.append(with_divergence(row | columns_of_epoch(values, data, number, rows) | diagnostics(state), rows))
        if number % length.every == 0 or number == length.epochs:
            save(path, (params, state), rows)
        yield rows[-1]


def _share(length: Length, number: int) -> float:
    """Factor of the learning rate in epoch `number`, from 1: half a cosine from 1 to 0, or always 1."""
    return 0.5 * (1.0 + math.cos(math.pi * (number - 1) / length.epochs)) if length.cosine else 1.0


def _has_ended(row: Row) -> bool:
    return row["stopped"] or row["diverged"]

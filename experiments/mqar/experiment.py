"""Multi-query associative recall: which mixers of a language model answer for pairs that they have just seen.

    softmax, entmax, softmax1   attention by that separation (entmax of 1.5)
    hopfield                    softmax with a learned β and several steps, the query moved before it reads
    linear, delta               a matrix for all that is kept (`layers.RecurrentMemory`), behind a short convolution
    gated_linear, gated_delta   one that fades
    by_hand                     one Hopfield head that nobody trained

A row is one model: two layers without feed-forward parts, one head, learned positions. Validation chooses among the
learning rates, all trained at once, and ends the training at 0.99.

Source: Arora et al. 2023, Zoology (arXiv:2312.04927).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from experiments import contract
from experiments.bounds import includes
from experiments.columns import Column, shared
from experiments.contract import Cost, Point, Row, grid_axis, option
from experiments.mqar import model
from experiments.mqar.results import panels, summarise
from experiments.shared import draws, parallel, training_loops
from experiments.shared.notes import note

__all__ = ["X_AXIS", "Config", "cost", "measure", "panels", "points", "summarise"]

MIXERS = ("softmax", "entmax", "softmax1", "hopfield", "linear", "gated_linear", "delta", "gated_delta", "by_hand")
FILLERS = ("zero", "random", "clean")
SOLVED = 0.99
"""Accuracy in validation at which training ends."""
_TRAINED = includes("mixers", *MIXERS[:-1])


@dataclass
class Config(contract.Config):
    """Options of multi-query associative recall; the defaults are smoke scale."""

    mixers: list[str] = option(
        ["softmax", "by_hand"], f"any of {', '.join(MIXERS)}", among=MIXERS, nonempty=True, axis=True
    )
    widths: list[int] = grid_axis([8], "features of the model", least=1, used_when=_TRAINED)
    lengths: list[int] = grid_axis([16], "tokens L of a sequence, even", least=4)
    pairs: list[int] = grid_axis([2], "pairs K of a sequence, where L has room, 4K ≤ L", least=1)
    seeds: int = option(2, "models, each with data of its own", least=1, extends=True)
    vocabulary: int = option(16, "tokens V: 0, keys below V/2, values from V/2", least=4)
    filler: str = option("zero", "other places: zero, random, or clean, random but for keys", among=FILLERS)
    examples: int = option(64, "sequences to train on", least=1, used_when=_TRAINED)
    held: int = option(32, "sequences of validation, and as many of the test", least=1)
    learning_rate: list[float] = option(
        [0.003],
        "rates of AdamW that validation chooses from in every seed",
        above=0,
        nonempty=True,
        used_when=_TRAINED,
    )
    weight_decay: float = option(0.1, "of AdamW", least=0, used_when=_TRAINED)
    dropout: float = option(0.1, "share of embedded features blanked", least=0, below=1, used_when=_TRAINED)
    update_steps: int = option(
        3, "applications of the mixer hopfield", least=1, used_when=includes("mixers", "hopfield")
    )
    epochs: int = option(1, "epochs at most", least=1, used_when=_TRAINED)
    batch_size: int = option(32, "sequences of a step", least=1, used_when=_TRAINED)

    def __post_init__(self) -> None:
        super().__post_init__()
        for length in self.lengths:
            if length % 2:
                raise ValueError(f"lengths must be even, got {length}")
        if min(self.lengths) < 4 * min(self.pairs):
            raise ValueError(
                f"lengths must be at least 4 times the fewest pairs, {min(self.pairs)}, got {min(self.lengths)}"
            )
        if max(self.pairs) > self.vocabulary // 2 - 1:
            raise ValueError(f"pairs must be at most the {self.vocabulary // 2 - 1} keys, got {max(self.pairs)}")


COLUMNS = shared("seed_index") | {
    "mixer": Column("what mixes positions: attention by a separation, hopfield, or fast weights", kind=str),
    "width": Column("width of the model", "count", kind=int),
    "length": Column("positions of the sequence", "count", kind=int),
    "pairs": Column("pairs of a sequence", "count", kind=int),
    "state_bytes": Column("bytes that the mixer keeps of a sequence", "bytes", kind=int),
    "accuracy": Column("accuracy on test sequences", "0 to 1"),
    "held": Column("accuracy on validation sequences", "0 to 1"),
    "learning_rate": Column("learning rate that validation chose"),
    "epochs": Column("epochs that were run", "count", kind=int),
    "contradicted": Column("share of asked pairs that filler contradicts", "0 to 1"),
}


X_AXIS = "state_bytes"


def cost(config: Config) -> Cost:
    """Cost of training every model at every learning rate, and of the answers of the hand-constructed head."""
    total, held = 0.0, 0.0
    each = points(config)
    for point in each:
        width, length = point["width"], point["length"]
        if point["mixer"] == "by_hand":
            total += config.held * length * width
            continue
        models = len(config.learning_rate)
        token = model.LAYERS * (4 * width + 2 * length) * width / 8  # in products of matrices, faster than the rest
        total += 3 * models * config.epochs * config.examples * length * token
        held = max(held, models * config.batch_size * length * max(length, 3 * width))
    return Cost(len(each), max(held, config.examples * max(config.lengths)), total)


def points(config: Config) -> list[Point]:
    """One point per mixer, width, length, pairs and seed. The hand-constructed head is measured at one width only."""
    grid = []
    for mixer, width, length, pairs in product(config.mixers, config.widths, config.lengths, config.pairs):
        if length < 4 * pairs:
            note(f"{pairs} pairs have no room in {length} tokens: left out")
            continue
        if mixer == "by_hand" and width != config.widths[0]:
            continue
        width = width if mixer != "by_hand" else 2 * config.vocabulary + 1
        point = {"mixer": mixer, "width": width, "length": length, "pairs": pairs}
        grid += [point | {"seed_index": index} for index in range(config.seeds)]
    return grid


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points, each trained by itself."""

    def measure_point(point: Point) -> list[Row]:
        return [point | {"state_bytes": state_bytes(point)} | result(config, point)]

    yield from parallel.rows([partial(measure_point, point) for point in wanted])


def state_bytes(point: Point) -> int:
    """Bytes in single precision that a mixer keeps of a sequence to go on from its end."""
    if point["mixer"] == "by_hand":
        return 4 * point["width"] * point["length"]
    return model.Structure(point["mixer"], point["width"], point["length"], 0, 0, 0.0).state_bytes


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


def sequences_of(config: Config, point: Point) -> tuple[model.Recall, ...]:
    """Sequences of training, validation and test of a seed. They are the same for all mixers and widths."""
    key = draws.key(config.seed, *(point[name] for name in ("seed_index", "length", "pairs")))
    sizes = (config.examples, config.held, config.held)
    numbers = (point["length"], point["pairs"], config.vocabulary, config.filler)
    return tuple(
        model.draw_sequences(k, size, *numbers) for k, size in zip(jax.random.split(key, 3), sizes, strict=True)
    )


def result(config: Config, point: Point) -> dict:
    """Accuracy of a mixer in test, at the rate that validation chooses.

    Returns:
        accuracy: share of the asked keys whose value is the largest logit.
        held: the same in validation, by which rate and end were chosen.
        learning_rate, epochs: of the result; none of the hand-constructed head.
        contradicted: share of the asked pairs in test that random tokens contradict.
    """
    train, held, test = sequences_of(config, point)
    about = {"contradicted": float(model.contradicted(test, point["pairs"]).mean())}
    if point["mixer"] == "by_hand":
        right = [float(_hand_constructed_accuracy(part, config.vocabulary)) for part in (test, held)]
        return {"accuracy": right[0], "held": right[1], "learning_rate": None, "epochs": 0} | about
    return _train_and_test(config, point, train, held, test) | about


def _train_and_test(
    config: Config, point: Point, train: model.Recall, validation: model.Recall, test: model.Recall
) -> dict:
    kind = model.Structure(
        point["mixer"], point["width"], point["length"], config.vocabulary, config.update_steps, config.dropout
    )
    made = _compiled(
        Program(kind, point["pairs"], config.examples, config.held, min(config.batch_size, config.examples))
    )
    key = draws.key(config.seed + 1, point["seed_index"])
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

    def epoch(state: Any, train: model.Recall, key: jax.Array, rates: jax.Array, decay: jax.Array) -> Any:
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

    def correct(state: Any, part: model.Recall) -> jax.Array:
        def share_right(row: model.Recall) -> jax.Array:
            tokens, asked, keep = row.tokens[None], row.asked[None], jnp.ones((1, kind.width))
            every = jax.vmap(lambda params: network.module(params)(tokens, asked, keep))(state[0])
            return jnp.mean(jnp.argmax(every[:, 0], axis=-1) == row.values[None], axis=-1)

        return jnp.mean(jax.lax.map(share_right, part, batch_size=SLICE), axis=0)

    return Compiled(jax.jit(start), jax.jit(epoch), jax.jit(correct))


def _step(program: Program, network: training_loops.Network, rule: optax.GradientTransformation) -> Callable:
    """Function that takes parameters, the rule's state and a key through one step of the rule on a batch."""

    def step(carry: tuple, batch: model.Recall) -> tuple:
        params, state, key = carry
        key, drop = jax.random.split(key)
        keep = training_loops.dropout(drop, program.kind.dropout, (program.batch, program.kind.width))

        def loss(params: Any) -> jax.Array:
            logits = network.module(params)(batch.tokens, batch.asked, keep)
            return optax.softmax_cross_entropy_with_integer_labels(logits, batch.values).mean()

        change, state = rule.update(jax.grad(loss)(params), state, params)
        return optax.apply_updates(params, change), state, key

    return step


def _hand_constructed_accuracy(part: model.Recall, vocabulary: int) -> jax.Array:
    """Share of right answers of the hand-constructed head."""

    def share_right(row: model.Recall) -> jax.Array:
        return jnp.mean(model.by_hand(row.tokens, row.asked, vocabulary) == row.values)

    return jnp.mean(jax.lax.map(share_right, part, batch_size=SLICE))

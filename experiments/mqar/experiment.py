"""Multi-query associative recall: which mixers of a language model answer for pairs that they have just seen.

    softmax, entmax, softmax1   attention by that separation (entmax of 1.5)
    hopfield                    softmax with a learned β and several steps, the query moved before it reads
    linear, delta, gated_delta  a matrix of fast weights for all that is kept (`attention.FastWeights`)
    by_hand                     one Hopfield head that nobody trained

A row is one model: two layers without feed-forward parts, one head, learned positions. Validation chooses among the
learning rates, all trained at once, and ends the training at 0.99.

Source: Arora et al. 2023, Zoology (arXiv:2312.04927).
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product

from experiments.contract import Cost, Point, Row
from experiments.mqar import measurement, model
from experiments.mqar.config import Config
from experiments.mqar.figure import panels
from experiments.mqar.summary import summarise
from experiments.shared import parallel
from experiments.shared.notes import note

__all__ = ["X_AXIS", "Config", "cost", "measure", "panels", "points", "summarise"]
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
        return [point | {"state_bytes": state_bytes(point)} | measurement.result(config, point)]

    yield from parallel.rows([partial(measure_point, point) for point in wanted])


def state_bytes(point: Point) -> int:
    """Bytes in single precision that a mixer keeps of a sequence to go on from its end."""
    if point["mixer"] == "by_hand":
        return 4 * point["width"] * point["length"]
    return model.Structure(point["mixer"], point["width"], point["length"], 0, 0, 0.0).state_bytes

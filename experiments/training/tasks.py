"""Tasks to learn: labelled sets of vectors, split by a seed into training, validation and test.

Source: bags and sequences, Ramsauer et al. 2021, §4 and their code.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import train_test_split

from experiments.training.own_tasks import Task, task

FRACTIONS = (0.6, 0.8)
"""Ends of the training part and of the validation part."""


class Part(NamedTuple):
    """Inputs [N, T, F], float32, and classes [N], int32."""

    inputs: np.ndarray
    targets: np.ndarray


class Split(NamedTuple):
    """The three parts of a task, and its number of classes."""

    train: Part
    validation: Part
    test: Part
    classes: int


def part(inputs: np.ndarray, targets: np.ndarray) -> Part:
    """Inputs and classes in single precision."""
    return Part(np.asarray(inputs, np.float32), np.asarray(targets, np.int32))


def bit_patterns(
    rng: np.random.Generator, size: int, instances: int = 16, bits: int = 8, signals: int = 8
) -> tuple[np.ndarray, np.ndarray, int]:
    """Bags of ±1 patterns. A positive bag holds exactly one signal, a negative one none."""
    codes = rng.permutation(2**bits)
    bags, positive = rng.choice(codes[signals:], (size, instances)), rng.integers(0, 2, size)
    place, rows = rng.integers(0, instances, size), np.arange(size)
    bags[rows, place] = np.where(positive, rng.choice(codes[:signals], size), bags[rows, place])
    return 2.0 * (bags[..., None] >> np.arange(bits) & 1) - 1.0, positive, 2


def digit_bags(rng: np.random.Generator, size: int, instances: int = 8) -> Split:
    """Bags whose images are of separate sets of digits in the three parts."""
    images, labels = map(np.asarray, load_digits(return_X_y=True))
    order = rng.permutation(len(images))
    groups = np.split(order, [round(f * len(order)) for f in FRACTIONS])
    parts = []
    for group, count in zip(groups, np.diff([0, *(round(f * size) for f in FRACTIONS), size]), strict=True):
        nines, others = group[labels[group] == 9], group[labels[group] != 9]
        bags, positive = rng.choice(others, (count, instances)), rng.integers(0, 2, count)
        place = rng.integers(0, instances, count)
        bags[np.arange(count), place] = np.where(positive, rng.choice(nines, count), bags[np.arange(count), place])
        parts.append(part(images[bags] / 8.0 - 1.0, positive))
    return Split(parts[0], parts[1], parts[2], 2)


def latch(
    rng: np.random.Generator, size: int, length: int = 30, symbols: int = 8
) -> tuple[np.ndarray, np.ndarray, int]:
    """Sequences of one-hot symbols. The first two symbols occur only in first place, where they are the class."""
    words, targets = rng.integers(2, symbols, (size, length)), rng.integers(0, 2, size)
    words[:, 0] = targets
    return np.eye(symbols)[words], targets, 2


def recall(
    rng: np.random.Generator, size: int, pairs: int = 6, keys: int = 12, values: int = 4
) -> tuple[np.ndarray, np.ndarray, int]:
    """Pairs of a one-hot key and a one-hot value. The last vector is the query: one of these keys without its value."""
    chosen = rng.permuted(np.broadcast_to(np.arange(keys), (size, keys)), axis=1)[:, :pairs]
    read = rng.integers(0, values, (size, pairs))
    asked, rows = rng.integers(0, pairs, size), np.arange(size)
    stored = np.concatenate([np.eye(keys)[chosen], np.eye(values)[read]], axis=-1)
    query = np.concatenate([np.eye(keys)[chosen[rows, asked]], np.zeros((size, values))], axis=-1)
    return np.concatenate([stored, query[:, None]], axis=1), read[rows, asked], values


class Drawn(NamedTuple):
    """Task that is drawn.

    Attributes:
        numbers, vectors: numbers of an example, and vectors that they make up.
        stream: number of its random numbers, different for every such task.
        draw: of a generator and a size: inputs, classes and their number, or a whole `Split`.
    """

    numbers: int
    vectors: int
    stream: int
    draw: Callable[..., Any]


TASKS = {
    "bit_patterns": Drawn(128, 16, 4, bit_patterns),
    "breast_cancer": Task(569, 30, 1, load_breast_cancer),
    "digit_bags": Drawn(512, 8, 3, digit_bags),
    # One unit: pixels at the rim that are all but always blank would otherwise be the loudest.
    "digits": Task(1797, 64, 1, load_digits, one_unit=True),
    "latch": Drawn(240, 30, 5, latch),
    "recall": Drawn(112, 7, 6, recall),
    "wine": Task(178, 13, 1, load_wine),
}


def find(name: str) -> Task | Drawn:
    """The task of a name, of the table or of a user-defined file."""
    return TASKS.get(name) or task(name)


def is_real(name: str) -> bool:
    """True if a task's examples are there, and not drawn."""
    return isinstance(find(name), Task)


def is_single(name: str) -> bool:
    """True if each example is a single vector."""
    return find(name).vectors == 1


def load_split(name: str, seed: int, size: int) -> Split:
    """A task's data.

    Args:
        name: one of `TASKS`, or a file.
        seed: of the split, and of what is drawn.
        size: number of bags or sequences of a task that is drawn, ≥ 10.

    Returns:
        Training, validation and test sets, 60, 20 and 20 % with the classes in proportion for real data; standardised
        by the mean and deviation of the training set where the data are measurements.

    Raises:
        ValueError: an unknown task or too few samples.
    """
    if size < 10:
        raise ValueError(f"size must be at least 10, got {size}")
    found = find(name)
    if isinstance(found, Task):
        return _real(found, seed)
    drawn = found.draw(np.random.default_rng([seed, found.stream]), size)
    if isinstance(drawn, Split):
        return drawn
    inputs, targets, classes = drawn
    first, second = (round(f * size) for f in FRACTIONS)
    three = [part(inputs[a:b], targets[a:b]) for a, b in ((0, first), (first, second), (second, size))]
    return Split(three[0], three[1], three[2], classes)


def sizes(name: str, size: int) -> tuple[int, int]:
    """Examples of a task, and numbers that each has."""
    found = find(name)
    return found.examples if isinstance(found, Task) else size, found.numbers


def lengths(name: str, size: int) -> tuple[int, int]:
    """Examples of a task to train on, and vectors that each has."""
    return int(FRACTIONS[0] * sizes(name, size)[0]), find(name).vectors


def _real(task: Task, seed: int) -> Split:
    inputs, targets = map(np.asarray, task.load(return_X_y=True))
    inputs = inputs if inputs.ndim == 3 else inputs[:, None]
    train, rest, y_train, y_rest = map(
        np.asarray, train_test_split(inputs, targets, train_size=0.6, stratify=targets, random_state=seed)
    )
    held, test, y_held, y_test = map(
        np.asarray, train_test_split(rest, y_rest, train_size=0.5, stratify=y_rest, random_state=seed)
    )
    mean = train.mean(axis=(0, 1))
    deviation = train.std() if task.one_unit else train.std(axis=(0, 1))
    deviation = np.where(deviation > 0, deviation, 1.0)
    three = [part((x - mean) / deviation, y) for x, y in ((train, y_train), (held, y_held), (test, y_test))]
    return Split(three[0], three[1], three[2], int(targets.max()) + 1)

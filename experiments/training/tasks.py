"""Tasks to learn: labelled sets of vectors, split by a seed into training, validation and test.

    digits, wine, breast_cancer     one vector each, from scikit-learn
    digit_bags                      bags of images; positive if there is a nine
    bit_patterns                    bags of random bits; positive if one of a few patterns is there
    latch                           sequences whose first symbol is the class, all others noise
    recall                          pairs of key and value, and a key whose value is asked for (the last vector)

Source: bags and sequences, Ramsauer et al. 2021, §4 and their code.
"""

from typing import NamedTuple

import numpy as np
from sklearn import datasets
from sklearn.model_selection import train_test_split

from experiments.training.config import REAL, TASKS

FRACTIONS = (0.6, 0.8)
"""Where training ends and where validation ends."""


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


def split(task: str, seed: int, size: int) -> Split:
    """A task's data.

    Args:
        task: one of `config.TASKS`.
        seed: of the split, and of what is drawn.
        size: number of bags or sequences of a task that is drawn, ≥ 10.

    Returns:
        Training, validation and test sets, 60, 20 and 20 % with the classes in proportion for real data; standardised
        by the mean and deviation of the training set where the data are measurements.

    Raises:
        ValueError: an unknown task or too few samples.
    """
    if task not in TASKS:
        raise ValueError(f"tasks must be any of {', '.join(TASKS)}, got {task!r}")
    if size < 10:
        raise ValueError(f"size must be at least 10, got {size}")
    rng = np.random.default_rng([seed, TASKS.index(task)])
    if task in REAL:
        return _real(task, seed)
    if task == "digit_bags":
        return _digit_bags(rng, size)
    inputs, targets, classes = {"bit_patterns": _bit_patterns, "latch": _latch, "recall": _recall}[task](rng, size)
    first, second = (round(f * size) for f in FRACTIONS)
    parts = [_part(inputs[a:b], targets[a:b]) for a, b in ((0, first), (first, second), (second, size))]
    return Split(parts[0], parts[1], parts[2], classes)


def sizes(task: str, size: int) -> tuple[int, int]:
    """Examples of a task, and numbers that each has."""
    known = {"digits": (1797, 64), "wine": (178, 13), "breast_cancer": (569, 30)}
    made = {"digit_bags": 512, "bit_patterns": 128, "latch": 240, "recall": 112}
    return known[task] if task in known else (size, made[task])


def lengths(task: str, size: int) -> tuple[int, int]:
    """Examples of a task to train on, and vectors that each has."""
    vectors = {"digit_bags": 8, "bit_patterns": 16, "latch": 30, "recall": 7}
    return int(FRACTIONS[0] * sizes(task, size)[0]), vectors.get(task, 1)


def _part(inputs: np.ndarray, targets: np.ndarray) -> Part:
    return Part(np.asarray(inputs, np.float32), np.asarray(targets, np.int32))


def _real(task: str, seed: int) -> Split:
    inputs, targets = map(np.asarray, getattr(datasets, f"load_{task}")(return_X_y=True))
    train, rest, y_train, y_rest = map(
        np.asarray, train_test_split(inputs, targets, train_size=0.6, stratify=targets, random_state=seed)
    )
    held, test, y_held, y_test = map(
        np.asarray, train_test_split(rest, y_rest, train_size=0.5, stratify=y_rest, random_state=seed)
    )
    mean = train.mean(axis=0)
    # Digits share one unit: pixels at the rim that are all but always blank would otherwise be the loudest.
    deviation = train.std() if task == "digits" else train.std(axis=0)
    deviation = np.where(deviation > 0, deviation, 1.0)
    parts = [_part(((x - mean) / deviation)[:, None], y) for x, y in ((train, y_train), (held, y_held), (test, y_test))]
    return Split(parts[0], parts[1], parts[2], int(targets.max()) + 1)


def _digit_bags(rng: np.random.Generator, size: int, instances: int = 8) -> Split:
    """Bags whose images are of separate sets of digits in the three parts."""
    images, labels = map(np.asarray, datasets.load_digits(return_X_y=True))
    order = rng.permutation(len(images))
    groups = np.split(order, [round(f * len(order)) for f in FRACTIONS])
    parts = []
    for group, count in zip(groups, np.diff([0, *(round(f * size) for f in FRACTIONS), size]), strict=True):
        nines, others = group[labels[group] == 9], group[labels[group] != 9]
        bags, positive = rng.choice(others, (count, instances)), rng.integers(0, 2, count)
        place = rng.integers(0, instances, count)
        bags[np.arange(count), place] = np.where(positive, rng.choice(nines, count), bags[np.arange(count), place])
        parts.append(_part(images[bags] / 8.0 - 1.0, positive))
    return Split(parts[0], parts[1], parts[2], 2)


def _bit_patterns(rng: np.random.Generator, size: int, instances: int = 16, bits: int = 8, signals: int = 8):
    """Bags of ±1 patterns; a positive one holds exactly one signal, a negative one none."""
    codes = rng.permutation(2**bits)
    bags, positive = rng.choice(codes[signals:], (size, instances)), rng.integers(0, 2, size)
    place, rows = rng.integers(0, instances, size), np.arange(size)
    bags[rows, place] = np.where(positive, rng.choice(codes[:signals], size), bags[rows, place])
    return 2.0 * (bags[..., None] >> np.arange(bits) & 1) - 1.0, positive, 2


def _latch(rng: np.random.Generator, size: int, length: int = 30, symbols: int = 8):
    """One-hot symbols; the first two occur in first place alone and are the class."""
    words, targets = rng.integers(2, symbols, (size, length)), rng.integers(0, 2, size)
    words[:, 0] = targets
    return np.eye(symbols)[words], targets, 2


def _recall(rng: np.random.Generator, size: int, pairs: int = 6, keys: int = 12, values: int = 4):
    """One-hot keys beside one-hot values; the last vector is a key of these alone."""
    chosen = rng.permuted(np.broadcast_to(np.arange(keys), (size, keys)), axis=1)[:, :pairs]
    read = rng.integers(0, values, (size, pairs))
    asked, rows = rng.integers(0, pairs, size), np.arange(size)
    stored = np.concatenate([np.eye(keys)[chosen], np.eye(values)[read]], axis=-1)
    query = np.concatenate([np.eye(keys)[chosen[rows, asked]], np.zeros((size, values))], axis=-1)
    return np.concatenate([stored, query[:, None]], axis=1), read[rows, asked], values

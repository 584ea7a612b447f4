"""Tasks to learn: labelled sets of vectors, split by a seed into training, validation and test. Each has its file.

    NUMBERS, VECTORS                   numbers of an example, and vectors that they make up
    STREAM                             number of its random numbers, different for every task that is drawn
    draw(rng, size)                    of a task that is drawn: inputs, classes and their number, or a whole `Split`
    EXAMPLES, load(return_X_y=True)    of real measurements instead: their number, and inputs and classes; of files of
                                       user-defined ones, see `_user_defined`
    ONE_UNIT: bool                     of these, whether all features share one unit

Source: bags and sequences, Ramsauer et al. 2021, §4 and their code.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

from experiments.system import parts
from experiments.training.config import TASKS
from experiments.training.tasks import _user_defined

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


def find(task: str) -> Any:
    """The module of a task, or a user-defined file, which has the same names."""
    return parts.find(__name__, task) if task in TASKS else _user_defined.task(task)


def is_real(task: str) -> bool:
    """Whether a task's examples are there, and not drawn."""
    return hasattr(find(task), "EXAMPLES")


def is_single(task: str) -> bool:
    """Whether each example is a single vector."""
    return find(task).VECTORS == 1


def load_split(task: str, seed: int, size: int) -> Split:
    """A task's data.

    Args:
        task: one of `config.TASKS`, or a file.
        seed: of the split, and of what is drawn.
        size: number of bags or sequences of a task that is drawn, ≥ 10.

    Returns:
        Training, validation and test sets, 60, 20 and 20 % with the classes in proportion for real data; standardised
        by the mean and deviation of the training set where the data are measurements.

    Raises:
        ValueError: an unknown task or too few samples.
    """
    module = find(task)
    if size < 10:
        raise ValueError(f"size must be at least 10, got {size}")
    if is_real(task):
        return _real(module, seed)
    drawn = module.draw(np.random.default_rng([seed, module.STREAM]), size)
    if isinstance(drawn, Split):
        return drawn
    inputs, targets, classes = drawn
    first, second = (round(f * size) for f in FRACTIONS)
    three = [part(inputs[a:b], targets[a:b]) for a, b in ((0, first), (first, second), (second, size))]
    return Split(three[0], three[1], three[2], classes)


def sizes(task: str, size: int) -> tuple[int, int]:
    """Examples of a task, and numbers that each has."""
    module = find(task)
    return getattr(module, "EXAMPLES", size), module.NUMBERS


def lengths(task: str, size: int) -> tuple[int, int]:
    """Examples of a task to train on, and vectors that each has."""
    return int(FRACTIONS[0] * sizes(task, size)[0]), find(task).VECTORS


def part(inputs: np.ndarray, targets: np.ndarray) -> Part:
    """Inputs and classes in single precision."""
    return Part(np.asarray(inputs, np.float32), np.asarray(targets, np.int32))


def _real(task: Any, seed: int) -> Split:
    inputs, targets = map(np.asarray, task.load(return_X_y=True))
    inputs = inputs if inputs.ndim == 3 else inputs[:, None]
    train, rest, y_train, y_rest = map(
        np.asarray, train_test_split(inputs, targets, train_size=0.6, stratify=targets, random_state=seed)
    )
    held, test, y_held, y_test = map(
        np.asarray, train_test_split(rest, y_rest, train_size=0.5, stratify=y_rest, random_state=seed)
    )
    mean = train.mean(axis=(0, 1))
    deviation = train.std() if task.ONE_UNIT else train.std(axis=(0, 1))
    deviation = np.where(deviation > 0, deviation, 1.0)
    three = [part((x - mean) / deviation, y) for x, y in ((train, y_train), (held, y_held), (test, y_test))]
    return Split(three[0], three[1], three[2], int(targets.max()) + 1)

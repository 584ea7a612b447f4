"""Bags of instances with one label each, divided into folds: from a file, or made up.

A file is a .npz of

    features    [instances, F], real numbers
    bag         [instances], the number of the bag that an instance belongs to, 0 to bags − 1
    labels      [bags], true or false, or 1 or 0; both occur
    train       [repetitions, folds, bags], whether a bag is trained on in a fold; the others are its test set,
                and every bag is tested in one fold of each repetition, every fold with bags of both classes
"""

import os
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from experiments.system import files
from hopfield.patterns.datasets import UNSOUND, check_archive

NAMES = ("features", "bag", "labels", "train")
MADE = "made"
FLOOR = 0.01
"""Addition to the variance of a feature, so that one that hardly varies stays small."""


class Bags(NamedTuple):
    """Bags padded to the size of the largest, with their divisions into folds."""

    instances: np.ndarray
    """Features [N, F], float32."""
    place: np.ndarray
    """Instance [B, S] in each place of a bag; 0 where there is none."""
    there: np.ndarray
    """True at an instance [B, S]."""
    labels: np.ndarray
    """[B], bool."""
    tested: np.ndarray
    """Fold [repetitions, B] in which a bag is tested."""

    @property
    def folds(self) -> int:
        """Number of folds."""
        return int(self.tested.max()) + 1


def load(name: str) -> Bags:
    """The bags of a file, or made ones; features as arsinh of their value over the root mean square of all.

    Raises:
        ValueError: the file is missing, or holds other arrays than the format.
    """
    if name == MADE:
        return synthetic_bags()
    path = Path(os.path.expanduser(name))
    if not path.is_file():
        raise ValueError(
            f"data must be {MADE} or an existing .npz file with features, bag, labels and train, "
            f"which the header of conf/training_mil.yaml says how to make, got {name!r}"
        )
    return _read(path, files.digest(path))


@lru_cache(maxsize=8)
def _read(path: Path, _digest: str) -> Bags:
    try:
        check_archive(path)
        with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
            arrays = [np.asarray(held[part]) for part in NAMES]
    except UNSOUND as error:
        why = " ".join(str(error).split())
        raise ValueError(f"data must be .npz files with {', '.join(NAMES)}, got {str(path)!r}: {why}") from None
    features, bag, labels, train = arrays
    count = len(labels) if labels.ndim == 1 else 0
    shapes = f"{features.shape}, {bag.shape}, {labels.shape}, {train.shape}"
    if not (features.ndim == 2 and bag.shape == features.shape[:1] and train.ndim == 3 and train.shape[2] == count > 0):
        raise ValueError(
            f"data must hold features [instances, F], bag [instances], labels [bags] and "
            f"train [repetitions, folds, bags], got shapes {shapes} in {str(path)!r}"
        )
    if not (bag.dtype.kind in "iu" and np.array_equal(np.unique(bag), np.arange(count)) and _are_usable(features)):
        raise ValueError(
            f"data must hold finite features of bags 0 to {count - 1}, each with instances and not all constant, "
            f"got {str(path)!r}"
        )
    for name, truth in (("labels", labels), ("train", train)):
        if truth.dtype.kind not in "biuf" or not np.isin(truth, (0, 1)).all():
            raise ValueError(f"data must hold {name} that are true or false, or 1 or 0, got others in {str(path)!r}")
    if len(np.unique(labels)) < 2:
        raise ValueError(f"data must hold bags of both classes, got one in {str(path)!r}")
    if not ((~train.astype(bool)).sum(axis=1) == 1).all():
        raise ValueError(f"data must test every bag in one fold of each repetition, got {str(path)!r}")
    return pad_bags(features, bag, labels, (~train.astype(bool)).argmax(axis=1))


def _are_usable(features: np.ndarray) -> bool:
    """True if features are finite real numbers of single precision, and at least one feature differs somewhere."""
    if features.dtype.kind not in "biuf" or not features.size:
        return False
    with np.errstate(over="ignore"):
        single = features.astype(np.float32)
    return bool(np.isfinite(single).all() and (single != single[:1]).any())


def pad_bags(features: np.ndarray, bag: np.ndarray, labels: np.ndarray, tested: np.ndarray) -> Bags:
    """Bags in padded form. Features that are constant are left out."""
    features = features.astype(float)
    features = features[:, np.ptp(features, axis=0) > 0]
    features = np.arcsinh(features / np.sqrt(np.mean(features**2)))
    count = np.bincount(bag)
    there = np.arange(count.max()) < count[:, None]
    place = np.zeros(there.shape, int)
    place[there] = np.argsort(bag, kind="stable")
    return Bags(features.astype(np.float32), place, there, labels.astype(bool), tested)


def standardise(bags: Bags, used: np.ndarray) -> np.ndarray:
    """Features [N, 2F] of all instances, float32, standardised by the instances of the bags `used` [B] alone.

    Each feature twice: brought to mean 0 and deviation 1, and as its rank among the instances of those bags, from −√3
    to √3 (deviation 1).
    """
    seen = bags.instances[bags.place[used][bags.there[used]]]
    values = (bags.instances - seen.mean(axis=0)) / np.sqrt(seen.var(axis=0) + FLOOR)
    ranks = np.empty_like(values)
    for feature, known in enumerate(np.sort(seen, axis=0).T):
        below, upto = (np.searchsorted(known, bags.instances[:, feature], side) for side in ("left", "right"))
        ranks[:, feature] = np.sqrt(3) * ((below + upto) / len(known) - 1)
    return np.concatenate([values, ranks], axis=1)


@lru_cache(maxsize=1)
def synthetic_bags(bags: int = 48, features: int = 6, folds: int = 4, repetitions: int = 5) -> Bags:
    """Bags of 2 to 4 random instances. In positive ones a feature of the first is large."""
    rng = np.random.default_rng(0)
    count, labels = rng.integers(2, 5, bags), np.arange(bags) % 2 == 1
    bag = np.repeat(np.arange(bags), count)
    values = rng.normal(size=(len(bag), features))
    values[np.searchsorted(bag, np.flatnonzero(labels)), 0] += 8.0
    tested = np.stack([rng.permutation(bags // 2) % folds for _ in range(repetitions)])
    return pad_bags(values, bag, labels, np.repeat(tested, 2, axis=1))

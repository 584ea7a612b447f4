"""Bags of digits, positive if there is a nine among them."""

import numpy as np
from sklearn.datasets import load_digits

from experiments.training.tasks import FRACTIONS, Split, part

NUMBERS, VECTORS, STREAM = 512, 8, 3


def draw(rng: np.random.Generator, size: int, instances: int = VECTORS) -> Split:
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

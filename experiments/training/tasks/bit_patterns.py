"""Bags of random bits, positive if one of a few patterns is there."""

import numpy as np

NUMBERS, VECTORS, STREAM = 128, 16, 4


def draw(
    rng: np.random.Generator, size: int, instances: int = VECTORS, bits: int = 8, signals: int = 8
) -> tuple[np.ndarray, np.ndarray, int]:
    """Bags of ±1 patterns. A positive bag holds exactly one signal, a negative one none."""
    codes = rng.permutation(2**bits)
    bags, positive = rng.choice(codes[signals:], (size, instances)), rng.integers(0, 2, size)
    place, rows = rng.integers(0, instances, size), np.arange(size)
    bags[rows, place] = np.where(positive, rng.choice(codes[:signals], size), bags[rows, place])
    return 2.0 * (bags[..., None] >> np.arange(bits) & 1) - 1.0, positive, 2

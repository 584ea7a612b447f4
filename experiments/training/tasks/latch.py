"""Sequences whose first symbol is the class, all others noise."""

import numpy as np

NUMBERS, VECTORS, STREAM = 240, 30, 5


def draw(
    rng: np.random.Generator, size: int, length: int = VECTORS, symbols: int = 8
) -> tuple[np.ndarray, np.ndarray, int]:
    """Sequences of one-hot symbols. The first two symbols occur only in first place, where they are the class."""
    words, targets = rng.integers(2, symbols, (size, length)), rng.integers(0, 2, size)
    words[:, 0] = targets
    return np.eye(symbols)[words], targets, 2

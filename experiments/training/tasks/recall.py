"""Pairs of key and value, and a key whose value is asked for, as the last vector."""

import numpy as np

NUMBERS, VECTORS, STREAM = 112, 7, 6


def draw(
    rng: np.random.Generator, size: int, pairs: int = VECTORS - 1, keys: int = 12, values: int = 4
) -> tuple[np.ndarray, np.ndarray, int]:
    """Pairs of a one-hot key and a one-hot value. The last vector is the query: one of these keys without its value."""
    chosen = rng.permuted(np.broadcast_to(np.arange(keys), (size, keys)), axis=1)[:, :pairs]
    read = rng.integers(0, values, (size, pairs))
    asked, rows = rng.integers(0, pairs, size), np.arange(size)
    stored = np.concatenate([np.eye(keys)[chosen], np.eye(values)[read]], axis=-1)
    query = np.concatenate([np.eye(keys)[chosen[rows, asked]], np.zeros((size, values))], axis=-1)
    return np.concatenate([stored, query[:, None]], axis=1), read[rows, asked], values

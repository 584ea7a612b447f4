"""Where an experiment's patterns come from: a random ensemble, images that ship with scikit-learn, or a file."""

from functools import lru_cache

RANDOM = "random"


def load(source: str, spins: bool):
    """Real patterns [M, N]: as spins by their own median, or each centred and scaled to the norm √N of spins.

    Args:
        source: digits (1797 of 8 × 8), photographs (2000 patches of 8 × 8), or the path of an .npy or .npz file.
        spins: whether the memory lives on spins.
    Raises:
        ValueError: the file is not a matrix of finite numbers, in one sentence.
    """
    return _load(source, spins)


@lru_cache(maxsize=8)
def fingerprint(source: str) -> str:
    """Hash of the patterns of a source, so that rows measured on a file are not taken for those of its successor."""
    import hashlib

    import numpy as np

    return hashlib.sha256(np.asarray(load(source, False)).tobytes()).hexdigest()[:16]


@lru_cache(maxsize=8)
def _load(source: str, spins: bool):
    from hopfield import datasets

    if source == "digits":
        return datasets.digits(binary=True) if spins else datasets.standardise(datasets.digits())
    if source == "photographs":
        patches = datasets.photograph_patches(count=2000, binary=spins)
        return patches if spins else datasets.standardise(patches)
    patterns = datasets.from_file(source)
    return datasets.to_spins(patterns) if spins else datasets.standardise(patterns)


def draw(ensemble: str, key, patterns: int, neurons: int, data=None):
    """One disorder sample of patterns [M, N]: from a random ensemble, or distinct rows of `data` in random order."""
    import jax

    import hopfield.patterns

    if data is None:
        return getattr(hopfield.patterns, ensemble)(key, patterns, neurons)
    return data[jax.random.permutation(key, data.shape[0])[:patterns]]

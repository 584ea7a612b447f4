"""Labels of memories and patterns in figures: one name for each, the same in all of them."""

from pathlib import Path

PARAMETERS = {
    "covariance": ("a", "0.1"),
    "dense": ("n", "3"),
    "dreaming": ("t", "1"),
    "sparse": (r"\alpha", "2"),
    "unlearning": ("D", "100"),
}
"""Symbol of a memory's parameter, and the value it has where the name gives none."""


def memory(name: str) -> str:
    """A memory by name, as `dense:4` or `sparse`, with its parameter in symbols."""
    kind, _, given = name.partition(":")
    if kind not in PARAMETERS:
        return name.rpartition(".py:")[2]
    symbol, usual = PARAMETERS[kind]
    return f"{kind}, ${symbol}={given or usual}$"


def patterns(name: str) -> str:
    """An ensemble, or a source of real patterns: a file with the last of its folders."""
    return "Gaussian" if name == "gaussian" else str(Path(*Path(name).parts[-2:]))

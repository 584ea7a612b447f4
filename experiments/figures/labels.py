"""Labels of memories and patterns in figures: one name for each, the same in all of them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hopfield import memories


def literal(value: Any) -> Any:
    """A text as Matplotlib shows it: no dollar of a name begins a formula. Other values as they are."""
    return value.replace("$", r"\$") if isinstance(value, str) else value


def memory(name: str) -> str:
    """A memory by name, as `dense:4` or `sparse`, with its parameter in symbols."""
    kind, _, given = name.partition(":")
    parameter = memories.find(kind).parameter if kind in memories.names() else None
    if parameter is None:
        return literal(name.rpartition(".py:")[2])
    symbol, usual = parameter
    words = " ".join(reversed(kind.split("_")))  # a symmetric perceptron
    return f"{words}, ${symbol}={given or f'{usual:g}'}$"


def theory(kinds: Iterable[Any], about: str = "") -> str:
    """Theory of one kind or several: "exact theory", "RS theory, $N\\to\\infty$"."""
    short = {"replica symmetric": "RS"}
    names = dict.fromkeys(short.get(kind, kind) for kind in kinds if isinstance(kind, str))
    return " ".join([*([", ".join(names)] if names else []), "theory"]) + (f", {about}" if about else "")


def patterns(name: str) -> str:
    """An ensemble, or a source of real patterns: a file with the last of its folders."""
    return "Gaussian" if name == "gaussian" else literal(str(Path(*Path(name).parts[-2:])))

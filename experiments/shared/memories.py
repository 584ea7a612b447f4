"""Memories in summaries and figures, which may be drawn where their code is not, or is not to be run.

What is asked of a memory from outside the package (the symbol of its load, its theory at a size) is kept beside the
numbers while a run is concluded, and answered from there whenever it is drawn again: no name in a table runs code.
"""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import numpy as np

from experiments.contract import InputError
from experiments.system.files import fingerprint
from hopfield import memories

Answers = dict[str, dict[str, Any]]
"""Answers of memories, by their name and by a hash of the question."""
_KEPT: ContextVar[tuple[Answers, bool] | None] = ContextVar("kept", default=None)
_PART = "part"
"""Answer that has further ones: a function, or theory as a whole."""


@contextlib.contextmanager
def keeping() -> Iterator[Answers]:
    """Answers of memories from outside the package, kept as they are given in a block."""
    with _set({}, True) as answers:
        yield answers


@contextlib.contextmanager
def answering(answers: Answers) -> Iterator[None]:
    """Block in which memories from outside the package answer what was kept, and none of their code is run."""
    with _set(answers, False):
        yield


@contextlib.contextmanager
def _set(answers: Answers, asks: bool) -> Iterator[Answers]:
    token = _KEPT.set((answers, asks))
    try:
        yield answers
    finally:
        _KEPT.reset(token)


def find(memory: str) -> Any:
    """A memory as `hopfield.memories.find` gives it, or what was kept of it; by its name in figures, too."""
    memory = memory.replace(r"\$", "$")
    kept = _KEPT.get()
    if kept is None or memory.partition(":")[0] in memories.names():
        return memories.find(memory)
    answers, asks = kept
    of = memories.find(memory) if asks else None
    return _Asked(memory, answers.setdefault(memory, {}) if asks else answers.get(memory, {}), of)


class _Asked:
    """A memory, or a part of it, whose answers are kept or were kept: attributes and results of calls."""

    def __init__(self, path: str, answers: dict[str, Any], of: Any) -> None:
        self._path, self._answers, self._of = path, answers, of

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        answer = self._answer(f"{self._path}.{name}", lambda: getattr(self._of, name))
        if answer is None and self._of is None:
            raise InputError(f"{name} of memory {self._path} must be kept in summary.json, got none")
        return answer

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self._answer(fingerprint([self._path, arguments, options]), lambda: self._of(*arguments, **options))

    def _answer(self, question: str, ask: Any) -> Any:
        key = fingerprint(question)[:16]
        if self._of is None:
            return _plain(self._answers.get(key), lambda: _Asked(question, self._answers, None))
        answer = ask()
        if answer is None or isinstance(answer, str | int) or (isinstance(answer, float) and np.isfinite(answer)):
            self._answers[key] = answer
        elif isinstance(answer, frozenset):
            self._answers[key] = {"names": sorted(answer)}
        elif isinstance(answer, float | np.ndarray | np.generic):
            self._answers[key] = {"numbers": np.asarray(answer).tolist()}
        elif not isinstance(answer, tuple) or hasattr(answer, "num_patterns"):
            self._answers[key] = _PART
            return _Asked(question, self._answers, answer)
        return answer


def _plain(kept: Any, part: Any) -> Any:
    if kept == _PART:
        return part()
    if isinstance(kept, dict):
        return frozenset(kept["names"]) if "names" in kept else np.asarray(kept["numbers"], float)
    return kept

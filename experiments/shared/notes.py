"""Notes: lines on what was asked for and is not measured as such, which a plan collects and the command prints."""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

_NOTES: ContextVar[dict[str, None] | None] = ContextVar("notes", default=None)
"""Lines on what was asked for and is not measured as such, where somebody collects them."""


@contextlib.contextmanager
def noted() -> Iterator[dict[str, None]]:
    """Collects the notes that are added within a block, each once: requests that were not measured as given."""
    notes: dict[str, None] = {}
    token = _NOTES.set(notes)
    try:
        yield notes
    finally:
        _NOTES.reset(token)


def note(line: str) -> None:
    """Add a line to the notes, if notes are being collected."""
    if (notes := _NOTES.get()) is not None:
        notes[f"note: {line}"] = None

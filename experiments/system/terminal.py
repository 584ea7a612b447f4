"""Lines on the terminal: the one place that prints, where no sign of a name, option or word controls the screen."""

import re
import sys
import unicodedata
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, TextIO

import tqdm

_UNUSUAL = re.compile(r"[^ -~]")


def printable(text: str) -> str:
    """Text on one line, in which whatever could control a terminal or turn its writing is spelt, as `\\x1b`."""
    return _UNUSUAL.sub(_spelt, text)


def _spelt(found: re.Match) -> str:
    sign = found[0]
    harmless = sign.isprintable() or unicodedata.category(sign) == "Zs"
    return sign if harmless else sign.encode("unicode_escape").decode()


def say(*lines: str) -> None:
    """Messages to the reader of the results, each one line on stderr; in a notebook, where that is red, on stdout."""
    _write(sys.stdout if _in_notebook() else sys.stderr, lines)


def tell(*lines: str) -> None:
    """Lines that a command was asked for, on stdout."""
    _write(sys.stdout, lines)


def progress(**about: Any) -> Any:
    """Bar of progress of tqdm: on a terminal, and in a notebook as its widget or, without ipywidgets, as a line."""
    bar: Any = tqdm.tqdm
    if not _in_notebook():
        return bar(disable=None, **about)
    if find_spec("ipywidgets") is None:
        return bar(file=sys.stdout, **about)
    from tqdm.notebook import tqdm as widget

    return widget(**about)


def _in_notebook() -> bool:
    return type(sys.stderr).__module__.startswith("ipykernel.")


def _write(stream: TextIO, lines: Sequence[str]) -> None:
    stream.writelines(f"{printable(line)}\n" for line in lines)
    stream.flush()

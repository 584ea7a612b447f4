"""Lines on the terminal: the one place that prints, where no sign of a name, option or word controls the screen."""

import re
import sys
import unicodedata
from collections.abc import Sequence
from typing import TextIO

_UNUSUAL = re.compile(r"[^ -~]")


def printable(text: str) -> str:
    """Text on one line, in which whatever could control a terminal or turn its writing is spelt, as `\\x1b`."""
    return _UNUSUAL.sub(_spelt, text)


def _spelt(found: re.Match) -> str:
    sign = found[0]
    harmless = sign.isprintable() or unicodedata.category(sign) == "Zs"
    return sign if harmless else sign.encode("unicode_escape").decode()


def say(*lines: str) -> None:
    """Messages to the reader of the results, each one line on stderr."""
    _write(sys.stderr, lines)


def tell(*lines: str) -> None:
    """Lines that a command was asked for, on stdout."""
    _write(sys.stdout, lines)


def _write(stream: TextIO, lines: Sequence[str]) -> None:
    stream.writelines(f"{printable(line)}\n" for line in lines)
    stream.flush()

"""Comparisons to time, one module each, found by name: the same problem, solved by this library and by something else.

A module `scripts/benchmarks/<name>.py` defines

    case(size, workspace) -> Case     size is one of SIZES, workspace an empty directory it may fill
    LONG: (optional) True for a case of minutes, which runs only when asked for

and needs no registration anywhere.
"""

import contextlib
import importlib
import pkgutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

SIZES = ("small", "published")
MEBIBYTE = 2**20 if sys.platform == "darwin" else 2**10
"""Mebibyte in the unit of `ru_maxrss`: bytes on macOS, kibibytes on Linux."""


class BenchmarkError(Exception):
    """Error of a benchmark: its sides did different things, or one side did not run."""


class MissingPeer(Exception):
    """The peer of a case is not installed."""


def optional(package: str) -> Any:
    """Import of an optional package. Raises MissingPeer if it is not installed."""
    try:
        return importlib.import_module(package)
    except ImportError:
        raise MissingPeer(f"{package} is not installed") from None


@dataclass
class Run:
    """One side solving one problem: the seconds it took, in total and in the stages it names, and peak memory in MiB.

    Memory is known only where the side runs in a process of its own.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    memory: float | None = None

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Note the time that the body takes."""
        start = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - start


class Side(NamedTuple):
    """One way to solve a problem: what it is called, and the function that does it, returning the result."""

    label: str
    solve: Callable[[Any, Run], Any]


@dataclass(frozen=True)
class Case:
    """A problem and two ways to solve it.

    Attributes:
        what: one sentence saying what is compared.
        shapes: sizes of the problem.
        draw: the problem of a repetition, made outside the timed region.
        ours, theirs: the two sides.
        check: from problems and both sides' results, one each per repetition, the figures that show their agreement;
            raises BenchmarkError where they disagree.
        once: takes too long to be repeated or to be run in advance.
    """

    what: str
    shapes: dict[str, int]
    draw: Callable[[int], Any]
    ours: Side
    theirs: Side
    check: Callable[[list, list, list], dict[str, float]]
    once: bool = False


def names() -> tuple[str, ...]:
    """Every comparison's name, in alphabetical order."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


def find(name: str) -> Any:
    """The module of a comparison."""
    return importlib.import_module(f"{__name__}.{name}")

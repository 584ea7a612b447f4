"""Parallel measurement of a table's pieces, in threads: the device works on one while Python prepares the next."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import lru_cache, partial
from itertools import groupby
from typing import Any, TypeVar

from experiments.contract import Point, Row
from experiments.shared import hardware

Result = TypeVar("Result")


def rows(tasks: Iterable[Callable[[], list[Result]]]) -> Iterator[Result]:
    """Rows, or other results, of all tasks, in the order in which tasks end. Rows of one task stay together.

    Args:
        tasks: functions without arguments, each giving some rows; those not yet begun are dropped when the reader stops
            or a task fails, whose exception is passed on.
    """
    used = hardware.current()
    if not used.side_by_side:  # else how many draws are side by side is known when their programs are
        hardware.say()
    with ThreadPoolExecutor(used.workers) as workers:
        running = [workers.submit(task) for task in tasks]
        try:
            for done in as_completed(running):
                yield from done.result()
        finally:
            workers.shutdown(cancel_futures=True)


def rows_in_groups(
    points: Iterable[Point], names: Sequence[str], last: str, measured: Callable[[list[Point]], list[Row]]
) -> Iterator[Row]:
    """Rows of points, measured together in groups of points that differ in one column alone.

    Args:
        points: those to measure, in any order.
        names: columns that are the same within a group.
        last: the column that tells the points of a group apart, by which they are sorted.
        measured: the rows of a group.
    """

    def key(point: Point) -> tuple:
        return tuple(point[name] for name in names)

    ordered = sorted(points, key=lambda point: (key(point), point[last]))
    yield from rows(partial(measured, list(group)) for _, group in groupby(ordered, key=key))


def locked_cache(size: int) -> Callable[[Callable], Any]:
    """Decorator that keeps the last `size` results of a function, worked out once although several threads ask for one.

    `functools.lru_cache` works a result out twice where two threads miss it at the same time: two programs of one.
    """

    def decorate(function: Callable) -> Any:
        @lru_cache(maxsize=size)
        def entry(*arguments: Any) -> tuple[threading.Lock, list]:
            return threading.Lock(), []

        making = threading.Lock()

        def locked_call(*arguments: Any) -> Any:
            with making:
                lock, made = entry(*arguments)
            with lock:  # one for each result, so that different ones are worked out at the same time
                if not made:
                    made.append(function(*arguments))
                return made[0]

        locked_call.cache_clear = entry.cache_clear  # type: ignore[attr-defined]
        return locked_call

    return decorate

"""Parallel measurement of a table's pieces, in threads: the device works on one while Python prepares the next."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed


def rows(tasks: Iterable[Callable[[], list[dict]]]) -> Iterator[dict]:
    """The rows of all tasks, those of a task together, in the order in which tasks end.

    Args:
        tasks: functions without arguments, each giving some rows; those not yet begun are dropped when the reader stops
            or a task fails, whose exception is passed on.
    """
    with ThreadPoolExecutor(min(os.cpu_count() or 1, 4)) as workers:
        running = [workers.submit(task) for task in tasks]
        try:
            for done in as_completed(running):
                yield from done.result()
        finally:
            workers.shutdown(cancel_futures=True)

"""Results that are kept are worked out once, however many threads ask at the same time."""

import threading
import time

from experiments.shared import parallel


def test_two_threads_that_miss_a_result_work_it_out_once():
    made, start = [], threading.Barrier(4)

    @parallel.locked_cache(4)
    def result(name):
        made.append(name)
        time.sleep(0.02)
        return object()

    found = []

    def ask():
        start.wait()
        found.append(result("a"))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert made == ["a"]
    assert len(set(map(id, found))) == 1
    result.cache_clear()
    result("a")
    assert made == ["a", "a"]

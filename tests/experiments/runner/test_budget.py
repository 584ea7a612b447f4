"""Budgets: what no machine can do is refused before its points are listed, and what can be done is foretold."""

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.contract import Cost, total

IMPOSSIBLE = [
    (
        "conf=capacity memories=[classical] neurons=[1000000] loads=[1e-6] dynamics=[synchronous]",
        "neurons must leave arrays",
    ),
    ("conf=capacity samples=1000000000000000000", "samples must lie in [-2^31, 2^31), got 10"),
    ("conf=training seeds=1000000000", "seeds must leave at most 1000000 points"),
    ("conf=optimisers steps=1000000000", "steps must leave arrays"),
    ("conf=optimisers tuning=100000000", "tuning must leave a run of at most 10 years"),
    ("conf=capacity_asymptotic sampled_queries=1000000000", "sampled_queries must leave arrays"),
    ("conf=phase_diagram classical.samples=1000000000", "classical must leave at most 1000000 points"),
    ("conf=throughput queries=[1000000000]", "queries must leave arrays"),
]


@pytest.mark.parametrize(("line", "said"), IMPOSSIBLE)
def test_the_impossible_is_refused_by_the_name_of_the_option(command: Callable, tmp_path: Path, line: str, said: str):
    begun = time.process_time()
    outcome = command(*line.split())
    assert said in outcome.err
    assert re.fullmatch(r"error: [^\n]+\n", outcome.err)
    assert (outcome.code, outcome.out, list(tmp_path.iterdir())) == (2, "", [])
    assert time.process_time() - begun < 3


def test_parts_add_up_in_time_and_share_the_memory_of_the_largest_array():
    assert total([Cost(1, 10, 100), Cost(2, 30, 200), Cost(4, 20, 400)]) == Cost(7, 30, 700, 3)
    assert total([]) == Cost(0, 0, 0, 0)


def test_a_dry_run_says_what_it_would_take_and_leaves_nothing(command: Callable, tmp_path: Path):
    outcome = command("conf=capacity_classical", "dry=true")
    assert (outcome.code, outcome.err, list(tmp_path.iterdir())) == (0, "", [])
    assert re.fullmatch(
        r"capacity_classical: 29356 points; largest array \S+ MiB; about \d+ minutes, compiling included\n", outcome.out
    )

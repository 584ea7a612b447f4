"""Faults of a run, of any kind at any point: the same results, or one sentence and then the same results.

`HOPFIELD_FAULTS=all python -m pytest tests/experiments/runner/test_faults.py` tries every operation with every fault.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

FAULTS = Path(__file__).parent / "faults.py"
SAMPLE = {"fresh": 29, "damaged": 60, "overwritten": 45, "checkpoints": 25}
"""One operation of so many is tried with each fault, unless all of them are."""


@pytest.mark.process
def test_a_run_that_is_killed_or_cannot_write_ends_with_the_same_results(tmp_path: Path) -> None:
    every = os.environ.get("HOPFIELD_FAULTS") == "all"
    words = [f"{name}:{1 if every else stride}" for name, stride in SAMPLE.items()]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3]), "WANDB_MODE": "disabled"}
    done = subprocess.run([sys.executable, FAULTS, tmp_path, *words], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [told for told in found if told["outcome"].startswith("bad")] == []
    seen = {name: Counter(told[name] for told in found) for name in ("scenario", "fault", "operation", "outcome")}
    sys.stdout.write(f"{len(found)} injections: {json.dumps(seen)}\n")
    assert seen["scenario"].keys() == SAMPLE.keys()
    assert seen["outcome"].keys() == {"killed", "one sentence", "same results"} or not every

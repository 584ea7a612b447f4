"""The sweep that W&B agents run: every combination is one that the command takes, in the words agents write."""

import itertools
from pathlib import Path

import pytest
import yaml

from experiments.runner import compose, session

SWEEP = Path(__file__).resolve().parents[2] / "scripts" / "sweep.yaml"


@pytest.mark.slow
def test_every_combination_of_the_sweep_is_a_job_with_a_directory_of_its_own():
    sweep = yaml.safe_load(SWEEP.read_text(encoding="utf-8"))
    assert sweep["command"] == ["${env}", "${interpreter}", "-m", "experiments.run", "${args_no_hyphens}"]
    values = {key: entry.get("values", [entry.get("value")]) for key, entry in sweep["parameters"].items()}
    combinations = list(itertools.product(*values.values()))
    with session.opened():
        jobs = [
            compose.jobs([f"{key}={value}" for key, value in zip(values, combination, strict=True)], sweep=False)[0]
            for combination in combinations
        ]
    assert len({job.directory for job in jobs}) == len(combinations) == 12

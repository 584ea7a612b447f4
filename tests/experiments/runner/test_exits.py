"""Code of a user's own that leaves in ways of its own, and streams and settings of their own."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.process
def test_the_command_runs_under_checks_of_jax(tmp_path: Path) -> None:
    settings = ["JAX_DEBUG_NANS=1", "JAX_NUMPY_DTYPE_PROMOTION=strict", "JAX_TRANSFER_GUARD=disallow"]
    words = ["conf=capacity", "samples=1", "neurons=[20]", "loads=[0.1]", "memories=[classical]", "wandb.mode=disabled"]
    line = ["env", *settings, sys.executable, "-m", "experiments.run", *words, f"output={tmp_path}"]
    done = subprocess.run(line, cwd=Path(__file__).parents[3], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr

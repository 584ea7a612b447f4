"""The command by the name of the library, beside folders that have the names of its parts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hopfield import __main__ as main


@pytest.mark.process
def test_a_folder_called_experiments_does_not_stand_in_for_ours(tmp_path):
    for name in ("experiments", "conf"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('another one')")
    environment = os.environ | {"PYTHONPATH": str(Path(main.__file__).parents[1])}
    command = [sys.executable, "-m", "hopfield", "conf=capacity", "dry=true"]
    found = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.startswith("capacity: ")

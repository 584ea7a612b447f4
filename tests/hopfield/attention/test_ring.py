"""Ring attention over devices is attention: values and gradients, causal too."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.process
def test_four_devices_read_what_one_reads():
    script = Path(__file__).with_name("ring_devices.py")
    environment = os.environ | {"PYTHONPATH": str(script.parents[3])}
    subprocess.run([sys.executable, str(script)], check=True, timeout=300, env=environment)

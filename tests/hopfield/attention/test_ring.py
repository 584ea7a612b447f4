"""Ring attention over devices is attention: values and gradients, causal too."""

import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from hopfield.attention import attend_ring


@pytest.mark.process
def test_four_devices_read_what_one_reads():
    script = Path(__file__).with_name("ring_devices.py")
    environment = os.environ | {"PYTHONPATH": str(script.parents[3])}
    subprocess.run([sys.executable, str(script)], check=True, timeout=300, env=environment)


def test_lengths_that_differ_are_refused():
    x, mesh = jnp.ones((4, 2)), jax.make_mesh((1,), ("sequence",))
    with pytest.raises(ValueError, match="query, key and value must have one length"):
        attend_ring(x, x[:2], x[:2], mesh=mesh)

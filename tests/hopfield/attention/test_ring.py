"""Ring attention over devices is attention: values and gradients, by masks and batches, in a layer too."""

import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from flax import nnx

from hopfield.attention import Ring, attend_ring, causal, segments
from hopfield.layers import AssociationOptions, HopfieldAttention

RING = Ring(jax.make_mesh((1,), ("sequence",)))


@pytest.mark.process
def test_four_devices_read_what_one_reads():
    script = Path(__file__).with_name("ring_devices.py")
    environment = os.environ | {"PYTHONPATH": str(script.parents[3])}
    subprocess.run([sys.executable, str(script)], check=True, timeout=300, env=environment)


def test_what_does_not_fit_a_ring_is_refused():
    x = jnp.ones((4, 2))
    with pytest.raises(ValueError, match="query, key and value must have one length"):
        attend_ring(x, x[:2], x[:2], RING)
    with pytest.raises(ValueError, match="ids must have one entry per key, 4, got 3"):
        attend_ring(x, x, x, RING, mask=causal() & segments(jnp.zeros(3, int)))
    with pytest.raises(ValueError, match="batch_axis must be"):
        Ring(RING.mesh, batch_axis="sequence")


@pytest.mark.parametrize(
    ("options", "call", "sentence"),
    [
        ({"separation": "sparsemax"}, {}, "separation must be softmax with a ring"),
        ({"update_steps": 2}, {}, "update_steps must be left out in an association over a ring of devices, got 2"),
        ({"memory_slots": 1}, {}, "memory_slots must be left out in an association over a ring of devices, got 1"),
        ({"positions": "alibi"}, {}, "ring must be left out with biases"),
        ({}, {"bias": jnp.zeros((1, 2, 4, 4))}, "ring must be left out with biases"),
        ({}, {"mask": jnp.ones((1, 1, 4, 4), bool)}, "ring must be left out with biases"),
        ({}, {"sow_weights": True}, "ring must be left out with biases"),
    ],
)
def test_options_that_a_ring_does_not_read_are_refused(options, call, sentence):
    make = lambda: HopfieldAttention(2, 8, options=AssociationOptions(ring=RING, **options), rngs=nnx.Rngs(0))
    with pytest.raises(ValueError, match=sentence):
        make()(jnp.ones((1, 4, 8)), **call)

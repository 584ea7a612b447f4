"""Ring attention on four host devices beside full attention, in a process of its own."""

import os

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax.sharding import AxisType

from hopfield.attention import Ring, attend, attend_ring, causal, padding, segments
from hopfield.layers import AssociationOptions, HopfieldAttention

jax.config.update("jax_enable_x64", True)
line = Ring(jax.make_mesh((4,), ("sequence",), axis_types=(AxisType.Auto,)))
plane = Ring(jax.make_mesh((2, 2), ("data", "sequence"), axis_types=(AxisType.Auto,) * 2), batch_axis="data")
beta = jnp.array([0.5, 1.0, 2.0])
lengths, ids = jnp.array([5, 24]), jnp.arange(24)[None] // jnp.array([[7], [9]])
packed = causal() & segments(ids)
several = causal() & padding(lengths, queries=True) & segments(ids)


def both(function, length):
    query, key, value = (jax.random.normal(jax.random.key(i), (2, 3, length, 4)) for i in range(3))
    loss = lambda query, key, value, beta: jnp.sum(jnp.sin(function(query, key, value, beta)))
    arguments = query, key[:, :1], value[:, :1], beta
    return function(*arguments), jax.grad(loss, (0, 1, 2, 3))(*arguments)


def check(ring, mask, length=24):
    found = both(jax.jit(lambda q, k, v, b: attend_ring(q, k, v, ring, beta=b, mask=mask)), length)
    wanted = both(lambda q, k, v, b: attend(q, k, v, beta=b, mask=mask), length)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-12), found, wanted)


for length in (20, 24):  # whose halves of pieces are no whole numbers, and are
    check(line, causal(), length)
check(line, None)
check(line, several)
check(line, padding(lengths))
check(plane, packed)
check(plane, several)
check(plane, None)

options = {"positions": "rotary", "metric": "diagonal", "window": 7}
x = jax.random.normal(jax.random.key(3), (2, 24, 8))
layers = [
    HopfieldAttention(
        *(2, 8), options=AssociationOptions(ring=ring, **options), param_dtype=jnp.float64, rngs=nnx.Rngs(0)
    )
    for ring in (None, plane)
]
loss = nnx.value_and_grad(lambda layer, x: jnp.sum(jnp.sin(layer(x, mask=several))), argnums=(0, 1))
values = [jax.tree.leaves(nnx.jit(loss)(layer, x)) for layer in layers]
jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-11), *values)

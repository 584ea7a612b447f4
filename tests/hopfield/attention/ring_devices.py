"""Ring attention on four host devices beside full attention, in a process of its own."""

import os

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType

from hopfield.attention import attend, attend_ring, causal

jax.config.update("jax_enable_x64", True)
mesh = jax.make_mesh((4,), ("sequence",), axis_types=(AxisType.Auto,))
query, key, value = (jax.random.normal(jax.random.key(i), (2, 3, 20, 4)) for i in range(3))
key, value, beta = key[:, :1], value[:, :1], jnp.array([0.5, 1.0, 2.0])


def both(function):
    loss = lambda query, key, value, beta: jnp.sum(jnp.sin(function(query, key, value, beta)))
    return function(query, key, value, beta), jax.grad(loss, (0, 1, 2, 3))(query, key, value, beta)


for is_causal in (False, True):
    mask = causal() if is_causal else None
    ring = jax.jit(lambda q, k, v, b, c=is_causal: attend_ring(q, k, v, mesh=mesh, beta=b, is_causal=c))
    full = lambda q, k, v, b, mask=mask: attend(q, k, v, beta=b, mask=mask)
    found, wanted = both(ring), both(full)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-12), found, wanted)

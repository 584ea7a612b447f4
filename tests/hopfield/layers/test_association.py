"""The association inside the layers, on heads that are not projected."""

import jax
import jax.numpy as jnp
import numpy as np

from hopfield import Memory, retrieve
from hopfield.layers import AssociationOptions, HopfieldAssociation

KEYS = jax.random.normal(jax.random.key(0), (9, 1, 6), jnp.float64)
ITERATED = AssociationOptions(update_steps=31, beta=0.4, rtol=1e-6)
QUERIES = jax.random.normal(jax.random.key(1), (4, 1, 6), jnp.float64)


def test_steps_energy_and_status_are_those_of_the_memory_of_the_keys():
    """One head, keys as patterns: `retrieve` of the same Memory, query by query."""
    associate = HopfieldAssociation(1, 6, ITERATED)
    found = associate.inspect(QUERIES, KEYS)
    memory = Memory(KEYS[:, 0], 0.4)
    expected = jax.vmap(lambda state: retrieve(memory, state, max_steps=30, rtol=1e-6))(QUERIES[:, 0])
    np.testing.assert_array_equal(found.steps[0], expected.steps)
    np.testing.assert_array_equal(found.status[0], expected.status)
    np.testing.assert_array_equal(found.converged[0], expected.converged)
    np.testing.assert_allclose(found.energy[0], expected.energy, rtol=1e-6)
    np.testing.assert_allclose(found.weights[0], jax.vmap(memory.weights)(expected.state), atol=1e-6)
    read = HopfieldAssociation(1, 6, ITERATED)(QUERIES, KEYS, KEYS)
    np.testing.assert_allclose(read[:, 0], jax.vmap(memory.read)(expected.state), atol=1e-6)

"""What is measured first, by its name in the package, from one retrieval."""

import jax
import jax.numpy as jnp
import numpy as np

from hopfield import observables
from hopfield.observables import thermodynamics


def test_entropies_of_one_row_are_those_of_arrays_of_rows():
    p = jax.random.dirichlet(jax.random.key(1), jnp.ones(6), (4,))
    for name in ("entropy", "effective_number"):
        rows = jnp.stack([getattr(observables, name)(row) for row in p])
        np.testing.assert_allclose(getattr(observables, name)(p), rows, rtol=1e-12)
        assert getattr(observables, name) is getattr(thermodynamics, name)

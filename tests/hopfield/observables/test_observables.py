"""What is measured first, by its name in the package, from one retrieval."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import observables
from hopfield.observables import thermodynamics

VERBS = [name for name in observables.__all__ if not inspect.ismodule(getattr(observables, name))]


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_of_the_package_is_the_one_of_its_module(name):
    verb = getattr(observables, name)
    homes = [getattr(observables, module) for module in observables.__all__ if module not in VERBS]
    assert any(verb is getattr(home, name, None) for home in homes)


def test_entropies_of_one_row_are_those_of_arrays_of_rows():
    p = jax.random.dirichlet(jax.random.key(1), jnp.ones(6), (4,))
    for name in ("entropy", "effective_number"):
        rows = jnp.stack([getattr(observables, name)(row) for row in p])
        np.testing.assert_allclose(getattr(observables, name)(p), rows, rtol=1e-12)
        assert getattr(observables, name) is getattr(thermodynamics, name)

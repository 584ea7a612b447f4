"""What is measured first, by its name in the package, from one retrieval."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import Memory, observables
from hopfield.observables import thermodynamics

PATTERNS = jnp.sign(jax.random.normal(jax.random.key(0), (5, 40)))
MEMORY = Memory.create(PATTERNS, beta=0.1)
VERBS = [name for name in observables.__all__ if not inspect.ismodule(getattr(observables, name))]


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_of_the_package_is_the_one_of_its_module(name):
    verb = getattr(observables, name)
    homes = [getattr(observables, module) for module in observables.__all__ if module not in VERBS]
    assert any(verb is getattr(home, name, None) for home in homes)


def test_a_state_is_told_of_in_the_first_hour():
    """8 of 40 spins flipped: an overlap of 1 − 2 · 8/40, nearest still the first pattern."""
    state = PATTERNS[0].at[:8].multiply(-1.0)
    assert observables.bit_error(state, PATTERNS[0]) == 8 / 40
    np.testing.assert_allclose(observables.overlap(state, PATTERNS[0]), 0.6)
    assert observables.nearest_pattern(state, PATTERNS).index == 0
    p = MEMORY.weights(state)
    scores = MEMORY.scores(state)
    np.testing.assert_allclose(observables.gibbs(scores, 0.1), p, rtol=1e-6)
    expected = -np.sum(np.asarray(scores) * np.asarray(p)) - observables.entropy(p) / 0.1
    np.testing.assert_allclose(observables.free_energy(scores, 0.1), expected, rtol=1e-5)
    assert observables.update_jacobian(MEMORY, state).dense().shape == (40, 40)


def test_entropies_of_one_row_are_those_of_arrays_of_rows():
    p = jax.random.dirichlet(jax.random.key(1), jnp.ones(6), (4,))
    for name in ("entropy", "effective_number"):
        rows = jnp.stack([getattr(observables, name)(row) for row in p])
        np.testing.assert_allclose(getattr(observables, name)(p), rows, rtol=1e-12)
        assert getattr(observables, name) is getattr(thermodynamics, name)

"""A part of the contracts with JAX as users have it: 32-bit numbers, and arrays of other ranks broadcast."""

import importlib
import sys
from unittest import mock

import jax
import numpy as np
import pytest

from hopfield import retrieve
from tests.hopfield.contracts import test_layers, test_models, test_public
from tests.hopfield.contracts.parts import energies, quick
from tests.hopfield.contracts.public import Case
from tests.hopfield.contracts.test_models import MODELS, PATTERNS, every_model

STATES = np.asarray(test_models.STATES)


def cases() -> list[Case]:
    """Calls of public functions whose objects were built as users build them, not in 64 bits."""
    folder = "tests.hopfield.contracts"
    parts = ("core", "dynamics", "statistics", "attention", "networks")
    with jax.enable_x64(False), mock.patch.dict(sys.modules):
        for name in [name for name in sys.modules if name.startswith(folder)]:
            del sys.modules[name]
        return [case for part in parts for case in importlib.import_module(f"{folder}.public_{part}").CASES]


@pytest.fixture(autouse=True, scope="module")
def as_users():
    """JAX as it is imported, without the strict numerics of `tests/conftest.py`."""
    usual = {"jax_enable_x64": False, "jax_numpy_rank_promotion": "allow"}
    before = {name: getattr(jax.config, name) for name in usual}
    for name, value in usual.items():
        jax.config.update(name, value)
    yield
    for name, value in before.items():
        jax.config.update(name, value)


@every_model
def test_a_memory_of_numpy_arrays_is_that_of_64_bits(name):
    with jax.enable_x64(True):
        expected = test_models.views(name)
    found = test_models.look(MODELS[name].build(PATTERNS), STATES)
    assert {value.dtype for value in found.values()} == {np.dtype("float32")}
    test_models.assert_same(found, expected, rtol=test_models.ITERATED.get(name, 1e-4), atol=1e-5)


@every_model
def test_energy_falls_along_a_retrieval_but_for_rounding(name):
    model = MODELS[name].build(PATTERNS)
    dynamics = next((each for each in ("synchronous", "sequential") if model.descends(each)), None)
    if dynamics is None:
        pytest.skip("its update has no energy")
    energy = np.asarray(quick(jax.vmap(lambda state: energies(model, state, dynamics)))(STATES))
    energy = np.where(np.isfinite(energy), energy, 1e30)  # beyond the reach of every pattern
    assert np.all(np.diff(energy) <= 1e-5 * (1 + np.abs(energy[:, :-1])))
    end = quick(lambda state: retrieve(model, state, dynamics=dynamics))(STATES[0])
    assert end.state.dtype == end.energy.dtype == np.float32
    np.testing.assert_allclose(end.energy, model.energy(end.state), rtol=1e-5)


@pytest.mark.parametrize("case", test_public.as_parameters(cases()))
def test_public_functions_take_numpy_arrays_and_compile_once(case):
    test_public.test_other_numbers_compile_nothing(case)


@test_layers.every_layer
def test_layers_are_single_and_every_parameter_learns(name):
    test_layers.test_a_result_is_finite_single_precision_and_depends_on_every_parameter(name)

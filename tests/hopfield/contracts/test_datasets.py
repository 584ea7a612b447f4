"""The contract of every dataset: each public function of the module that needs no argument is one."""

import inspect
from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.patterns import datasets

FEW = {"count": 60}
"""Arguments that make a dataset small, if it takes them."""


def found() -> dict[str, Callable]:
    functions = {name: value for name, value in vars(datasets).items() if inspect.isfunction(value) and name[0] != "_"}
    own = {name: value for name, value in functions.items() if value.__module__ == datasets.__name__}
    return {
        name: value
        for name, value in own.items()
        if all(p.default is not p.empty for p in inspect.signature(value).parameters.values())
    }


DATASETS = found()
every_dataset = pytest.mark.parametrize("name", DATASETS)


def takes(name: str, option: str) -> bool:
    return option in inspect.signature(DATASETS[name]).parameters


def rows(name: str, **options) -> np.ndarray:
    small = {option: value for option, value in FEW.items() if takes(name, option)}
    return np.asarray(DATASETS[name](**small, **options))


@every_dataset
def test_rows_are_finite_patterns_with_contrast_and_the_same_every_time(name):
    patterns = rows(name)
    assert patterns.ndim == 2
    assert np.isfinite(patterns).all()
    assert np.ptp(patterns, axis=1).min() > 0
    np.testing.assert_array_equal(patterns, rows(name))


@every_dataset
def test_options_do_what_they_are_called(name):
    assert takes(name, "binary")
    spins = rows(name, binary=True)
    assert set(np.unique(spins)) == {-1.0, 1.0}
    assert spins.shape == rows(name).shape
    if takes(name, "unit_norm"):
        np.testing.assert_allclose(np.linalg.norm(rows(name, unit_norm=True), axis=1), 1, rtol=1e-12)
    if takes(name, "seed"):
        assert not np.array_equal(rows(name, seed=1), rows(name))
    if takes(name, "colour"):
        assert rows(name, colour=True).shape[1] == 3 * rows(name).shape[1]


@every_dataset
def test_rows_are_patterns_of_a_memory(name):
    spins = jnp.asarray(rows(name, binary=True))
    np.testing.assert_array_equal(datasets.to_spins(spins, 0.0), spins)
    np.testing.assert_allclose(jnp.linalg.norm(datasets.to_norm(spins, 1.0), axis=1), 1, rtol=1e-6)

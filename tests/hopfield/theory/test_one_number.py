"""Theory of one size, load or temperature at a time says so when given several."""

import importlib
import inspect
import pkgutil

import numpy as np
import pytest

from hopfield import theory
from hopfield.theory import (
    annealed,
    basins,
    examples,
    general,
    linear,
    novelty,
    replicas,
    sequences,
    sparse,
    thermal,
    trajectories,
)


def _weight(overlap, state):
    return 8.0 * np.asarray(overlap) * state


def _square(sums):
    return np.asarray(sums) ** 2.0


CALLS = {
    annealed.others: {"log_weight": _weight, "neurons": 20, "ensemble": "spins", "overlap": 1.0},
    annealed.target_weight: {"log_weight": _weight, "neurons": 20, "num_patterns": 8.0},
    annealed.converged: {"log_weight": _weight, "neurons": 20, "num_patterns": 8.0},
    annealed.critical_load: {"log_weight": _weight, "neurons": 20},
    basins.neurodynamics: {"load": 0.1, "overlap": 0.5, "steps": 2},
    basins.dense: {"degree": 3, "load": 0.01},
    examples.critical_load: {"quality": 0.5, "examples": 8},
    examples.overlap: {"load": 0.02, "quality": 0.5, "examples": 8},
    examples.examples_needed: {"load": 0.02, "quality": 0.5},
    general.one_step_error: {"summand": _square, "neurons": 8, "num_patterns": 2, "flipped": 1},
    general.start_overlap: {"corruption": 0.1},
    general.weight_probability: {"log_weight": _square, "neurons": 8, "num_patterns": 2.0, "flipped": 1},
    general.weight_patterns: {"log_weight": _square, "neurons": 8, "flipped": 1},
    linear.capacity: {"neurons": 8, "values": 8, "decay": 1.0},
    novelty.leftover: {"neurons": 8, "num_patterns": 4, "kappa": 2.0, "overlap": 0.5},
    replicas.covariance: {"degree": 3, "q": 0.5},
    replicas.dense_replica: {"degree": 3, "load": 0.1, "temperature": 0.0},
    replicas.dense_spinodal_load: {"degree": 3, "temperature": 0.5},
    replicas.dense_spinodal_temperature: {"degree": 3, "load": 0.1},
    replicas.almeida_thouless_temperature: {"load": 0.1},
    sequences.bit_error: {"degree": 2, "neurons": 8, "num_patterns": 4},
    sparse.spinodal: {"activity": 0.1, "offset": 0.5},
    sparse.one_step_shares: {"activity": 0.1, "neurons": 8, "num_patterns": 4, "threshold": 0.2, "offset": 0.5},
    sparse.willshaw_error: {"neurons": 8, "active": 2, "num_patterns": 4},
    sparse.willshaw_information: {"neurons": 8, "active": 2, "num_patterns": 4},
    thermal.mean_overlap: {"temperature": 0.5, "neurons": 8, "sharpness": 2.0},
    trajectories.course: {"degree": 2, "load": 0.1, "overlap": 0.5, "steps": 1, "draws": 8, "seed": 0},
    trajectories.second_step: {"degree": 2, "load": 0.1, "overlap": 0.5},
}
"""Functions of single numbers, and arguments that they take."""
BROADCAST = {sequences.bit_error_gaussian, sequences.published_capacity}
"""Functions of one degree that work for several as well."""
FOUNDATIONS = {"base", "sums"}


def _single(function) -> list[str]:
    kinds = (float, int, float | None, int | None)
    return [name for name, about in inspect.signature(function).parameters.items() if about.annotation in kinds]


def test_every_function_of_single_numbers_is_called():
    found = set()
    for about in pkgutil.iter_modules(theory.__path__):
        if not about.name.startswith("_") and about.name not in FOUNDATIONS:
            module = importlib.import_module(f"hopfield.theory.{about.name}")
            found |= {
                value
                for name, value in vars(module).items()
                if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
            }
    left = {function.__name__ for function in found - BROADCAST - set(CALLS) if _single(function)}
    of_functions = {"binomial", "below_zero", "log_noise", "limit"}
    assert left <= of_functions | {"load_at_overlap", "load_power", "random_energy_load"}


@pytest.mark.parametrize("function", CALLS, ids=lambda function: f"{function.__module__[16:]}.{function.__name__}")
def test_numbers_out_of_range_are_refused_by_name(function):
    """NaN and a number below every range, and True, which is no number."""
    free = {"offset", "threshold"} | ({"overlap"} if function is annealed.others else set())
    for name in set(_single(function)) & set(CALLS[function]) - free:
        for bad in (np.nan, -7.5, True):
            with pytest.raises(ValueError, match=f"^{name} must be "):
                function(**{**CALLS[function], name: bad})

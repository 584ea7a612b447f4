"""A number, a text or nothing in place of an array: the library refuses it itself, before JAX or Python does."""

import re

import numpy as np
import pytest

from tests.hopfield.contracts.test_public import CASES, OBJECTS

INTERNALS = re.compile(
    r"'\w+' object|Error interpreting argument|dot_general|axis -?\d+ is out of bounds|index -?\d+ is out"
    r"|Too many indices|None is not a valid|Value .* is not a valid JAX|\w+ requires ndarray|\w+ does not accept"
    r"|unsupported operand|input with shape|matmul input|Zero-dimensional|string indices|tuple index"
)
"""How errors begin that tell of the inside of a function, not of its argument."""

TOLD_BY_JAX = {
    "fisher.conjugate_gradient",
    "fisher.fisher",
    "geometry.families.location_normal.inner_product",
    "geometry.families.location_normal.norm",
    "geometry.families.normal.dist",
    "geometry.families.normal.exp",
    "geometry.families.normal.inner_product",
    "geometry.families.normal.log",
    "geometry.families.normal.norm",
    "observables.weights.dominates",
    "observables.weights.participation_ratio",
    "observables.weights.shares",
    "optim.riemannian_gradient_descent",
    "separations.simplex.entmax",
    "separations.simplex.normmax",
    "separations.simplex.sparsemax",
}
"""Functions that still leave a wrong argument to JAX or to Python: a set that gets shorter."""


def _functions() -> dict:
    """Public functions with the first call of each that takes an array, by name."""
    found = {}
    for case in CASES:
        function = case.name.rsplit(".", 2)[1].islower() and "._" not in case.name
        if function and not any(part in case.name for part in OBJECTS):
            call = case.draw(np.random.default_rng(1), case.shapes[0])
            places = (*range(len(call.arguments)), *call.options)
            arrays = [place for place in places if isinstance(call.argument(place), np.ndarray)]
            if arrays:
                found.setdefault(case.name.removeprefix("hopfield."), (call, arrays[0]))
    return found


FUNCTIONS = _functions()


def _told_by_jax(name: str) -> list[str]:
    """What is said of wrong arguments in place of the first array where that is not the library's own sentence."""
    call, place = FUNCTIONS[name]
    said = []
    for wrong in (3, "x", None):
        try:
            call.with_argument(place, wrong)()
        except Exception as error:  # noqa: BLE001 - whatever JAX raises
            own = isinstance(error, ValueError | TypeError) and "\n" not in str(error)
            if not own or INTERNALS.match(str(error)):
                said.append(f"{wrong!r}: {type(error).__name__} {str(error)[:100]}")
    return said


@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - TOLD_BY_JAX))
def test_a_wrong_argument_is_refused_in_a_sentence_of_the_library(name):
    assert not _told_by_jax(name)


@pytest.mark.parametrize("name", sorted(TOLD_BY_JAX))
def test_functions_that_leave_it_to_jax_are_those_listed(name):
    assert _told_by_jax(name)

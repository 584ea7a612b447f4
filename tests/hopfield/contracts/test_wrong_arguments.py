"""A text or nothing instead of an array: an error of the library, of JAX or of Python, and never a number."""

import numpy as np
import pytest

from tests.hopfield.contracts.test_public import CASES, OBJECTS


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
WITHOUT = {"metrics.as_metric", "geometry.families.location_normal.metric_matrix"}
"""Functions that None is a value for, or that are the same whatever the array is."""


@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - WITHOUT))
def test_a_wrong_argument_gives_no_number(name):
    call, place = FUNCTIONS[name]
    for wrong in ("x", None):
        with pytest.raises((TypeError, ValueError)):
            call.with_argument(place, wrong)()

"""Shapes that do not fit are told in a sentence of the library, whatever function of geometry is given them."""

import re

import numpy as np
import pytest

from tests.hopfield.contracts.public_geometry import GEOMETRY

CASES = {case.name: case for case in GEOMETRY if "._" not in case.name}


def told(call) -> str | None:
    """The error of a call, None if there is none: a function of one argument may take it shorter."""
    try:
        call()
    except (ValueError, TypeError) as error:
        return f"{type(error).__name__}: {error}"
    return None


@pytest.mark.parametrize("name", CASES)
def test_a_shape_that_does_not_fit_is_one_sentence(name):
    call = CASES[name].draw(np.random.default_rng(1), CASES[name].shapes[0])
    arrays = [(i, x) for i, x in enumerate(call.arguments) if isinstance(x, np.ndarray) and x.ndim]
    for place, value in arrays:
        sentence = told(call.with_argument(place, value[..., :-1]))
        assert sentence is None or re.fullmatch(r"ValueError: \w[^()]* must .*", sentence), sentence

"""Contract of every public function of the library: one compilation per structure, and NaN in, NaN out."""

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hopfield.contracts import public_attention, public_core, public_dynamics, public_networks, public_statistics
from tests.hopfield.contracts.public import Case, compilations, uncalled_names

CASES = (
    *public_core.CASES,
    *public_dynamics.CASES,
    *public_statistics.CASES,
    *public_attention.CASES,
    *public_networks.CASES,
)
EXCLUDED = public_core.EXCLUDED | public_attention.EXCLUDED | public_networks.EXCLUDED


def as_parameters(cases: list[Case]) -> list:
    """Cases as parameters, numbered by function."""
    seen: dict[str, int] = {}
    for case in cases:
        seen[case.name] = seen.get(case.name, 0) + 1
    count: dict[str, int] = {}
    found = []
    for case in cases:
        count[case.name] = count.get(case.name, 0) + 1
        name = case.name.removeprefix("hopfield.")
        found.append(pytest.param(case, id=f"{name}-{count[case.name]}" if seen[case.name] > 1 else name))
    return found


def _with_nan(data, case: Case, masked: bool):
    """A call with NaN at one place of one array, with a mask or without; the mask keeps the NaN unless it is masked."""
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    call = case.draw(rng, data.draw(st.sampled_from(case.shapes)))
    place = case.nan[0] if masked else data.draw(st.sampled_from(case.nan))
    array = np.array(call.argument(place))
    at = data.draw(st.integers(0, array.size - 1))
    array.flat[at] = np.nan
    if case.mask is not None and (masked or data.draw(st.booleans())):
        used = rng.random(call.argument(case.nan[0]).shape) < 0.5
        used.flat[at] = not masked
        call = call.with_argument(case.mask, used)
    return call, call.with_argument(place, array)


def test_every_public_function_is_called():
    assert not uncalled_names(CASES, EXCLUDED)


@pytest.mark.parametrize("case", as_parameters(list(CASES)))
def test_other_numbers_compile_nothing(case):
    first, second = (case.draw(np.random.default_rng(seed), case.shapes[0]) for seed in (1, 2))
    jax.block_until_ready(first())
    with compilations() as programs:
        jax.block_until_ready(second())
    assert not programs


@pytest.mark.parametrize("case", as_parameters([case for case in CASES if case.nan]))
@given(data=st.data())
def test_nan_in_is_nan_out(case, data):
    _, spoilt = _with_nan(data, case, masked=False)
    assert case.shows(spoilt())


@pytest.mark.parametrize("case", as_parameters([case for case in CASES if case.mask]))
@given(data=st.data())
def test_a_masked_nan_changes_nothing(case, data):
    call, spoilt = _with_nan(data, case, masked=True)
    jax.tree.map(np.testing.assert_array_equal, call(), spoilt())


OBJECTS = ("multi_head", "verify_gradients", "dense_solve", "dynamics.sweep", "hopfield.disturbances")
"""Parts of the names of functions whose cases build an object of arrays from the numbers."""


def _lists(case: Case) -> bool:
    function = case.name.rsplit(".", 2)[1].islower() and "._" not in case.name
    return function and not any(part in case.name for part in OBJECTS)


@pytest.mark.parametrize("case", as_parameters(list(filter(_lists, CASES))))
def test_lists_mean_arrays(case):
    """Lists of numbers, as read from a file, give what their arrays give."""
    call = case.draw(np.random.default_rng(1), case.shapes[0])
    listed = call
    for place in (*range(len(call.arguments)), *call.options):
        given = call.argument(place)
        if isinstance(given, np.ndarray) and given.dtype == np.float64 and given.size:
            listed = listed.with_argument(place, given.tolist())
    for one, other in zip(jax.tree.leaves(call()), jax.tree.leaves(listed()), strict=True):
        np.testing.assert_allclose(np.asarray(other), np.asarray(one), rtol=1e-12, atol=1e-12)


def test_compilations_are_counted_and_cached_ones_too():
    x = np.linspace(0.0, 1.0, 7)
    with compilations() as programs:
        jax.block_until_ready([jax.jit(lambda x: 3.0 * x - 1.25)(x) for _ in range(2)])
    assert len(programs) == 2

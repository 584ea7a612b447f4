"""Checks of arguments: what passes is as the table says, what does not is one sentence that names the argument."""

import re
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from hopfield import Memory
from hopfield import _arguments as arguments
from hopfield.attention import attend


@pytest.mark.parametrize("value", ["1", [1, "2"], [[1.0], [1.0, 2.0]], 1j, {}, [None, object()], [10**400]])
def test_what_is_no_real_number_is_refused(value):
    with pytest.raises(ValueError, match=r"^load must be real numbers, got .{1,60}$"):
        arguments.reals("load", value)


def test_numbers_are_float64_and_masked_entries_are_none():
    found = arguments.reals("load", np.ma.array([1, 2], mask=[False, False]))
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, [1.0, 2.0])
    assert arguments.reals("load", np.float32(0.5)) == 0.5
    with pytest.raises(ValueError, match=r"^load must be finite, got \[1 --\]$"):
        arguments.reals("load", np.ma.array([1, 2], mask=[False, True]))


@pytest.mark.parametrize(
    ("limits", "value", "contract"),
    [
        ({"above": 0}, 0, "finite and > 0"),
        ({"least": 0, "below": 1}, 1, "finite and >= 0 and < 1"),
        ({"most": 2}, [1, 3], "finite and <= 2"),
        ({}, np.nan, "finite"),
        ({}, True, "real numbers"),
    ],
)
def test_numbers_outside_their_range_are_told_all_of_it(limits, value, contract):
    with pytest.raises(ValueError, match=f"^load must be {contract}, got"):
        arguments.reals("load", value, **limits)


def test_whole_numbers_flags_and_members_are_what_they_say():
    assert arguments.whole_numbers("neurons", 3.0, least=1) == 3
    assert arguments.flag("exact", np.True_) is True
    assert arguments.one_of("kind", "a", ("a", "b")) == "a"
    for call, sentence in (
        (lambda: arguments.whole_numbers("neurons", 2.5, least=1), "neurons must be an integer of at least 1, got 2.5"),
        (lambda: arguments.flag("exact", "False"), "exact must be True or False, got 'False'"),
        (lambda: arguments.one_of("kind", "c", ("a", "b")), "kind must be one of a, b, got 'c'"),
        (lambda: arguments.one_of("kind", 3, ("a", "b")), "kind must be one of a, b, got 3"),
        (
            lambda: arguments.one_of("of", "upper_half", ("lower", "upper")),
            "of must be one of lower, upper, got 'upper_half'; did you mean upper?",
        ),
    ):
        with pytest.raises(ValueError, match="must") as error:
            call()
        assert str(error.value) == sentence


def test_arrays_get_the_order_of_bytes_of_this_machine_and_others_stay():
    foreign = np.arange(3, dtype=">f8")
    assert arguments.native(foreign).dtype.isnative
    assert arguments.native("text") == "text"


def test_positive_never_widens_float32_and_lets_positive_tracers_pass():
    assert (arguments.positive_scalar("beta", 2) * jnp.ones(3, jnp.float32)).dtype == jnp.float32
    compiled = jax.jit(lambda b: arguments.positive_scalar("beta", b))
    assert compiled(2.0) == 2.0
    assert compiled(2) == 2.0
    for bad in (-1.0, 0.0, jnp.inf, jnp.nan):
        assert jnp.isnan(compiled(bad))


def test_traced_numbers_outside_their_range_are_none_and_whole_ones_stay():
    limited = lambda low, high: jax.jit(lambda x: arguments.real_scalar("x", x, "a number", low, high))
    share, finite = limited(0.0, 1.0), jax.jit(lambda x: arguments.real_scalar("x", x, "a finite number"))
    assert [float(share(x)) for x in (0.0, 0.5, 1.0)] == [0.0, 0.5, 1.0]
    for bad in (-0.1, 1.1, jnp.nan):
        assert jnp.isnan(share(bad))
    for value in (100_000, jnp.float32(3e38), jnp.float16(65504)):
        assert finite(value) == value
        assert jnp.isnan(finite(jnp.inf * value))
        assert jnp.isnan(finite(-jnp.inf * value))
    assert jax.jit(lambda x: arguments.real_scalar("x", x, "a number", -np.inf, np.inf))(jnp.inf) == jnp.inf


@pytest.mark.parametrize("beta", [nnx.Param(jnp.asarray(0.5)), Fraction(1, 2), np.longdouble(0.5), np.float16(0.5)])
def test_a_real_number_of_any_kind_is_a_temperature_of_memories_and_of_attention(beta):
    rows = np.eye(3)
    assert Memory(rows, beta).beta == 0.5
    np.testing.assert_array_equal(attend(rows, rows, rows, beta=beta), attend(rows, rows, rows, beta=0.5))


def test_the_table_has_a_row_for_every_check():
    assert arguments.__doc__ is not None
    rows = re.findall(r"^\| `(\w+)` +\|", arguments.__doc__, re.MULTILINE)
    beside = {"Float", "native", "plain", "shown", "in_line", "nearest", "public"}
    beside |= {"check_methods", "of_field", "of_patterns", "of_scores", "of_state"}
    assert len(rows) == len(set(rows))
    checks = {name for name, value in vars(arguments).items() if callable(value) and not name.startswith("_")}
    assert {*rows} == checks - beside

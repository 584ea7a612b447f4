"""Columns of tables are declared once, each with its meaning and unit."""

import math
from enum import Enum
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from experiments.columns import Column, check, find

BETA = {"beta_*": Column("β of head *", "1/scores"), "overlap": Column("overlap m", "−1 to 1")}


def test_a_numbered_column_is_found_with_its_number() -> None:
    assert find(BETA, "beta_12") == Column("β of head 12", "1/scores")
    assert find(BETA, "beta_x") is None
    assert find(BETA, "overlap_1") is None


@pytest.mark.parametrize(
    ("name", "meaning"),
    [("overlap_stderr", "standard error of overlap"), ("overlap_low", "lower end of overlap")],
)
def test_a_column_brings_its_error_and_its_band_along_in_its_unit(name: str, meaning: str) -> None:
    assert find(BETA, name) == Column(meaning, "−1 to 1")


class Look(Enum):
    near = 1


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (float, [0.5, 13, np.float32(0.5), np.int64(3), jnp.float32(0.5), math.inf]),
        (int, [13, np.int64(3), np.uint8(3), jnp.int32(3)]),
        (str, ["near", np.str_("near"), Look.near]),
        (bool, [True, np.bool_(False), jnp.bool_(True)]),
    ],
)
def test_a_value_of_the_declared_kind_or_none_at_all_stands_in_a_row(kind: type, values: list[Any]) -> None:
    declared = {"x": Column("x", kind=kind)}
    for value in [*values, None, math.nan, np.float32(math.nan)]:
        check(declared, {"x": value})

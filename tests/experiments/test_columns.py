"""Columns of tables are declared once, each with its meaning and unit."""

import pytest

from experiments.columns import SHARED, Column, check, find, shared
from experiments.contract import InputError
from experiments.runner import registry

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


def test_a_column_that_is_declared_itself_is_no_end_of_another() -> None:
    own = BETA | {"overlap_low": Column("least overlap")}
    assert find(own, "overlap_low") == Column("least overlap")


def test_an_unknown_column_is_refused_with_the_nearest_name() -> None:
    check(BETA, ["overlap", "beta_0", "overlap_high"])
    with pytest.raises(InputError, match=r"got overlapp; did you mean overlap\?$"):
        check(BETA, ["overlap", "overlapp"])


def test_shared_columns_are_those_of_several_experiments() -> None:
    declared = [registry.columns(name) or {} for name in registry.names()]
    assert shared("load") == {"load": SHARED["load"]}
    for name, column in SHARED.items():
        assert sum(each.get(name) == column for each in declared) >= 1, name


def test_the_text_of_a_column_ends_with_its_unit() -> None:
    assert str(BETA["overlap"]) == "overlap m (−1 to 1)"
    assert str(Column("number of the sample")) == "number of the sample"

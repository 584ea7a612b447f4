"""Samples of the tests' cases: others in every commit, the same for the same commit, all of what a commit touches."""

import pytest

from tests.samples import all_but_few, mirrored


class Case:
    """A case of a test, known by its name alone."""

    def __init__(self, nodeid):
        self.nodeid = nodeid


CASES: list = [Case(f"test_a[{i}]") for i in range(100)] + [Case("test_b"), Case("test_c[x]"), Case("test_c[y]")]


def kept(sample):
    return {case.nodeid for case in set(CASES) - all_but_few(CASES, sample)}


def test_every_commit_runs_some_cases_of_each_test_and_a_month_of_them_all():
    assert kept("1a2b") == kept("1a2b")
    assert kept("1a2b") != kept("3c4d")
    for sample in map(str, range(30)):
        assert len([name for name in kept(sample) if name.startswith("test_a")]) == 10
        assert len(kept(sample)) == 12
    assert set.union(*(kept(str(day)) for day in range(60))) == {case.nodeid for case in CASES}


def test_tests_of_one_file_run_the_same_cases():
    cases: list = [Case(f"tests/test_x.py::{name}[{i}]") for name in ("test_a", "test_b") for i in range(33)]
    kept = {case.nodeid.partition("::")[2] for case in set(cases) - all_but_few(cases, "1a2b")}
    assert {name[6:] for name in kept if "_a" in name} == {name[6:] for name in kept if "_b" in name}
    assert len(kept) == 12


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("hopfield/attention/masks.py", ["tests/hopfield/attention/test_masks.py"]),
        ("hopfield/_parts.py", ["tests/hopfield/test_parts.py"]),
        ("experiments/capacity/laws.py", ["tests/experiments/capacity"]),
        ("tests/test_sizes.py", ["tests/test_sizes.py"]),
        ("tests/conftest.py", []),
        ("README.md", []),
    ],
)
def test_a_changed_file_has_its_mirrored_tests_or_those_of_its_folder(changed, tests):
    assert mirrored(changed) == tests

"""Mutations: each is a fault that can be made."""

from scripts import mutations
from tests.source_code import ROOT


def test_the_text_of_every_mutation_stands_in_its_file_and_its_tests_are_there():
    assert [m for m in mutations.MUTATIONS if m.old not in (ROOT / m.file).read_text(encoding="utf-8")] == []
    assert [t for m in mutations.MUTATIONS for t in m.tests.split() if not (ROOT / "tests" / t).exists()] == []

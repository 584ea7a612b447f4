"""Smoke scale: what an experiment is run with where any run of it will do."""

import dataclasses
from typing import Any

import pytest

from experiments.runner import registry
from experiments.worked_examples import capacity_claims, printed


def few(name: str) -> dict[str, Any]:
    """The first two entries of the lists among an experiment's defaults, and few samples if the experiment chooses."""
    usual = registry.options(name)()
    lists = {entry.name: getattr(usual, entry.name) for entry in dataclasses.fields(usual)}
    samples = {"samples": 2} if getattr(usual, "samples", 1) is None else {}
    return samples | {key: value[:2] for key, value in lists.items() if isinstance(value, list) and len(value) > 2}


SIZES_OF_CLAIMS = ((6, 10, 14), (8, 12, 16), (8, 10, 12), (6, 8))


def few_draws(patch: pytest.MonkeyPatch) -> None:
    """Claims of capacity, which have no options, measured at smaller sizes in fewer draws."""
    patch.setattr(printed, "SIZES", {100: 40, 200: 40})
    patch.setattr(capacity_claims, "LOADS", {100: (0.15, 0.4), 200: (0.13, 0.3)})
    patch.setattr(capacity_claims, "DRAWS", {"target_weight": 24, "converged_weight": 12})
    cases = [case._replace(sizes=sizes) for case, sizes in zip(printed.CASES, SIZES_OF_CLAIMS, strict=True)]
    patch.setattr(printed, "CASES", tuple(cases))
    for document in printed.DOCUMENTS:
        patch.setitem(printed.PRINTED, (document, printed.CAPACITY), printed.claimed_numbers())

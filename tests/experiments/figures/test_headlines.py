"""Theory beside the numbers of a report: each has that of its own entry, or none."""

import pytest

from experiments.figures.headlines import headlines
from experiments.statistics.columns import headline


def theories(summary: dict) -> dict[str, str]:
    return {line["name"]: line["theory"] for line in headlines(summary)}


@pytest.mark.parametrize("labels", [("seed=1", "seed=2"), ("seed=1", "seed=1/a")])
def test_runs_that_are_joined_have_each_their_own_theory(labels: tuple[str, str]) -> None:
    groups, scalars = [], {}
    for label, theory in zip(labels, (0.25, 0.5), strict=True):
        own = headline("load", 1.0, 0.0, theory=theory)
        groups.append({"label": label, "summary": {"scalars": own}})
        scalars |= {f"{label}/{name}": value for name, value in own.items()}
    assert theories({"groups": groups, "notes": [], "scalars": scalars}) == {
        f"{labels[0]}/load": "0.25", f"{labels[1]}/load": "0.5"
    }  # fmt: skip


def test_a_theory_that_a_summary_names_stands_beside_its_number() -> None:
    scalars = {"m": 0.5, "m/stderr": 0.1, "m/theory": 0.4, "of": 0.5, "of/theory": None}
    assert theories({"entries": [{"m": 0.5, "theory": 0.9}], "scalars": scalars}) == {"m": "0.4", "of": ""}


@pytest.mark.parametrize(
    ("theory", "scalar", "shown"), [(None, "/limit", "0.138 (N → ∞)"), (0.2, "/theory", "0.2")], ids=["N=inf", "N"]
)
def test_theory_of_an_infinite_system_is_told_from_that_of_the_size(theory, scalar, shown) -> None:
    scalars = headline("load", 0.25, 0.01, theory=theory, limit=0.138)
    assert set(scalars) == {"load", "load/stderr", f"load{scalar}"}
    assert theories({"scalars": scalars}) == {"load": shown}

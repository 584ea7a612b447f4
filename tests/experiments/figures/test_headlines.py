"""Theory beside the numbers of a report: each has that of its own entry, or none."""

import pytest

from experiments.figures.headlines import headlines
from experiments.statistics.columns import headline


def theories(summary: dict) -> dict[str, str]:
    return {line["name"]: line["theory"] for line in headlines(summary)}


def test_equal_values_have_each_the_theory_that_is_its_own() -> None:
    entries = [
        {"memory": memory, "neurons": neurons, "load": 1.0, "stderr": 0.0, "theory": theory}
        for memory, neurons, theory in (("classical", 50, 0.9), ("classical", 100, 0.8), ("modern", 50, 0.7))
    ]
    names = ["load/classical/N=50", "load/classical/N=100", "load/modern/N=50"]
    scalars = {key: value for name in names for key, value in ((name, 1.0), (f"{name}/stderr", 0.0))}
    assert theories({"loads": entries, "scalars": scalars}) == dict(zip(names, ["0.9", "0.8", "0.7"], strict=True))


def test_a_number_that_happens_to_be_anothers_has_no_theory() -> None:
    """A share of one, and a width, beside measured ones that have errors; a load that is asked for."""
    entries = [{"kind": "outer", "asked": 0.2, "share": 1.0, "stderr": 0.01, "theory": 0.98, "width": 0.3}]
    scalars = {"within_two_errors": 1.0, "share/outer": 1.0, "share/outer/stderr": 0.01, "asked/outer/width": 0.3}
    assert theories({"shares": entries, "scalars": scalars}) == {
        "within_two_errors": "", "share/outer": "0.98", "asked/outer/width": ""
    }  # fmt: skip


def test_an_entry_whose_own_theory_is_unknown_takes_no_other() -> None:
    entries = [
        {"rule": "hebb", "load": 0.5, "stderr": 0.1, "theory": None},
        {"rule": "covariance", "load": 0.5, "stderr": 0.1, "theory": 0.4},
    ]
    scalars = {"load/hebb": 0.5, "load/hebb/stderr": 0.1, "load": 0.5, "load/stderr": 0.1}
    assert theories({"loads": entries, "scalars": scalars}) == {"load/hebb": "", "load": ""}


@pytest.mark.parametrize("labels", [("seed=1", "seed=2"), ("seed=1", "seed=1/a")])
def test_runs_that_are_joined_have_each_their_own_theory(labels: tuple[str, str]) -> None:
    groups, scalars = [], {}
    for label, theory in zip(labels, (0.25, 0.5), strict=True):
        own = {"load": 1.0, "load/stderr": 0.0}
        groups.append(
            {"label": label, "summary": {"of": [{"load": 1.0, "stderr": 0.0, "theory": theory}], "scalars": own}}
        )
        scalars |= {f"{label}/{name}": value for name, value in own.items()}
    assert theories({"groups": groups, "notes": [], "scalars": scalars}) == {
        f"{labels[0]}/load": "0.25", f"{labels[1]}/load": "0.5"
    }  # fmt: skip


def test_a_theory_that_a_summary_names_stands_beside_its_number() -> None:
    scalars = {"m": 0.5, "m/stderr": 0.1, "m/theory": 0.4, "of": 0.5, "of/theory": None}
    assert theories({"entries": [{"m": 0.5, "theory": 0.9}], "scalars": scalars}) == {"m": "0.4", "of": ""}


def test_scalars_of_a_headline_are_one_line_of_the_report() -> None:
    scalars = headline("load, N=inf", 0.5, 0.25, theory=0.4)
    assert scalars == {"load, N=inf": 0.5, "load, N=inf/stderr": 0.25, "load, N=inf/theory": 0.4}
    assert list(headlines({"scalars": scalars})) == [
        {"name": "load, N=inf", "value": "0.50 ± 0.25", "sort": "0.5", "theory": "0.4"}
    ]

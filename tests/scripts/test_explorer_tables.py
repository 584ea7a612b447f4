"""Tables of the explorer page: they are of the runs given, at their β, or one sentence."""

from pathlib import Path

import pandas
import pytest

from experiments.capacity import theory

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.fixture
def explorer(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(SCRIPTS)
    import explorer

    return explorer


def rows(explorer, **betas: float) -> pandas.DataFrame:
    """Two draws of every memory, all queries retained."""
    fixed = {"corruption": "clean", "neurons": 10, "load": 0.5, "queries": 4, "retained": 4, "converged_weight": 4}
    betas = {"exponential": 1.0, "modern": 1.0} | betas
    found = [fixed | {"memory": memory, "beta": betas.get(memory, float("nan"))} for memory in explorer.MEMORIES]
    return pandas.DataFrame(found * 2)


@pytest.mark.parametrize("beta", [1.0, 2.0])
def test_limits_are_those_at_the_beta_of_the_run(explorer, beta):
    found = explorer.capacity(rows(explorer, modern=beta))
    assert found["modern"]["beta"] == beta
    assert found["modern"]["limit"] == theory.critical_load("modern", "converged_weight", None, 0, beta)
    assert found["modern"]["theory"] == {10: theory.critical_load("modern", "converged_weight", 10, 0, beta)}
    assert found["modern"]["theory"][10] != found["modern"]["limit"]
    assert (found["classical"]["beta"], found["classical"]["theory"]) == (None, {10: None})
    assert found["classical"]["sizes"] == {10: [[0.5, 1.0, 0.0]]}

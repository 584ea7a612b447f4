"""Tables of the explorer page: they are of the runs given, at their β, or one sentence."""

from pathlib import Path

import pandas
import pytest

from experiments.capacity import theory
from experiments.contract import InputError

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
    assert found["classical"]["beta"] is None
    assert found["classical"]["sizes"] == {10: [[0.5, 1.0, 0.0]]}


def test_a_run_without_a_memory_or_at_two_betas_is_refused(explorer):
    table = rows(explorer)
    with pytest.raises(InputError, match=r"^CAPACITY must hold clean starts of .* at one β each, got 0 of dense:3$"):
        explorer.capacity(table[table["memory"] != "dense:3"])
    with pytest.raises(InputError, match=r"got 2 of modern$"):
        explorer.capacity(pandas.concat([table, rows(explorer, modern=2.0)]))
    with pytest.raises(InputError, match=r"^PHASES must hold maps of classical, modern, got none of modern$"):
        explorer.phases(pandas.DataFrame({"study": ["map"], "memory": ["classical"]}))


def test_a_folder_that_is_no_such_run_is_refused_and_nothing_written(explorer, monkeypatch, tmp_path):
    monkeypatch.setattr(explorer, "TARGET", tmp_path / "tables.js")
    with pytest.raises(InputError, match=r"^CAPACITY must be the folder of a run, got [^\n]*, without table\.csv$"):
        explorer.main([str(tmp_path), str(tmp_path)])
    pandas.DataFrame({"study": ["map"], "memory": ["modern"]}).to_csv(tmp_path / "table.csv")
    with pytest.raises(InputError, match=r"^CAPACITY must be a run of its configuration, got [^\n]*, without corr"):
        explorer.main([str(tmp_path), str(tmp_path)])
    assert not (tmp_path / "tables.js").exists()

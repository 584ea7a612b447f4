"""Several runs as one: joined tables, pooled seeds, one figure, one report."""

import json
from collections.abc import Callable
from pathlib import Path

import pandas
import pytest

from experiments.plot import main as plot
from experiments.runner import registry

FILES = {
    ".claim",
    "figure.pdf",
    "figure.png",
    "figure.svg",
    "joined.json",
    "report.html",
    "run.json",
    "summary.json",
    "estimates.csv",
    "table.csv",
}


@pytest.mark.slow
def test_a_sweep_ends_with_one_table_summary_figure_and_report(command: Callable, tmp_path: Path) -> None:
    outcome = command("-m", "conf=toy", "seed=0,1", "noise=0.0,0.5", "output=out", "limit=1")
    assert outcome.code == 0
    assert outcome.out.endswith(f"sweep: {tmp_path}/out/report.html\n")
    assert {path.name for path in (tmp_path / "out").iterdir() if path.is_file()} == FILES
    table = pandas.read_csv(tmp_path / "out/table.csv")
    assert list(table.columns[:2]) == ["seed", "noise"]
    parts = [pandas.read_csv(path) for path in sorted((tmp_path / "out").glob("*/table.csv"))]
    assert len(table) == sum(map(len, parts)) == 32
    summary = json.loads((tmp_path / "out/summary.json").read_text())
    assert [group["label"] for group in summary["groups"]] == ["noise=0", "noise=0.5"]
    pooled = table[table["noise"] == 0.5]["response"].mean()
    assert summary["groups"][1]["mean"] == pytest.approx(pooled, rel=1e-12)
    told = pandas.read_csv(tmp_path / "out/estimates.csv")
    assert told[["quantity", "noise", "stderr"]].values.tolist() == [["response", 0.0, 0.1], ["response", 0.5, 0.1]]
    assert told["value"].tolist()[1] == pytest.approx(pooled, rel=1e-12)
    text = (tmp_path / "out/report.html").read_text()
    assert "-m conf=toy seed=0,1 noise=0.0,0.5 output=out" in text
    assert 'href="seed_0%2Bnoise_0.5' in text


@pytest.mark.slow
def test_samples_of_different_seeds_are_never_taken_for_one(
    command: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    toy = registry.load("toy")
    summarise = toy.summarise
    monkeypatch.setattr(toy, "summarise", lambda table: seen.append(table) or summarise(table))
    command("-m", "conf=toy", "seed=0,1,2", "output=out", "kinds=[red]", "slopes=[1.0]")
    joined = seen[-1]
    assert (len(joined), joined["sample"].nunique()) == (12, 6)
    assert not joined.duplicated(["kind", "load", "slope", "sample"]).any()
    kept = pandas.read_csv(tmp_path / "out/table.csv")
    assert kept["seed"].nunique() == 3
    assert not kept.duplicated(["seed", "kind", "load", "slope", "sample"]).any()


@pytest.mark.slow
def test_rows_that_are_one_measurement_stand_once(command: Callable, tmp_path: Path) -> None:
    command("conf=toy", "output=a", "kinds=[red]")
    command("conf=toy", "output=b")
    assert plot(["a", "b", "output=joined"]) == 0
    command("conf=toy", "output=whole")
    columns = ["kind", "load", "slope", "sample"]
    joined, whole = (pandas.read_csv(tmp_path / name / "table.csv") for name in ("joined", "whole"))
    assert len(joined) == len(whole) == 16
    same = joined.drop(columns="kinds").sort_values(columns, ignore_index=True)
    pandas.testing.assert_frame_equal(same, whole.sort_values(columns, ignore_index=True))
    assert json.loads((tmp_path / "joined/summary.json").read_text())["mean"] == pytest.approx(whole["response"].mean())

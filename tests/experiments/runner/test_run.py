"""The command line: what it accepts, what it leaves behind, and the one sentence that every mistake ends in."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments.contract import InputError
from experiments.runner import compose, session

RESULTS = {
    ".claim",
    "config.yaml", "figure.pdf", "figure.png", "figure.svg", "ledger",
    "estimates.csv", "report.html", "run.json", "summary.json", "table.csv",
}  # fmt: skip


@pytest.mark.slow
def test_a_run_takes_the_schema_of_its_experiment_alone(tmp_path: Path) -> None:
    program = (
        "import sys; from experiments.run import main; main(['conf=novelty', '--cfg', 'job']);"
        "print(*(n for n in sys.modules if n.startswith('experiments.') and n.endswith(('.config', '.experiment'))))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "experiments.novelty.experiment"


def test_a_run_leaves_its_results_and_says_where(command: Callable, tmp_path: Path) -> None:
    outcome = command("conf=toy", "output=out", "seed=4")
    assert (outcome.code, outcome.err) == (0, "")
    assert {path.name for path in tmp_path.iterdir()} == {"out"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == RESULTS
    assert outcome.out.endswith(
        f"table: {tmp_path}/out/table.csv\nfigure: {tmp_path}/out/figure.svg\nreport: {tmp_path}/out/report.html\n"
    )

    table = (tmp_path / "out/table.csv").read_text().splitlines()
    assert table[0] == "kind,load,slope,sample,response,trials"
    assert [line.split(",")[0] for line in table[1:]] == ["red"] * 8 + ["blue"] * 8
    responses = [float(line.split(",")[4]) for line in table[1:]]
    summary = json.loads((tmp_path / "out/summary.json").read_text(), parse_constant=lambda name: pytest.fail(name))
    assert summary["estimates"][0]["value"] == pytest.approx(sum(responses) / 16, rel=1e-12)
    assert summary["nothing"] is None
    assert f"response: {summary['mean']:.2f} ± 0.10\n" in outcome.out
    config = (tmp_path / "out/config.yaml").read_text()
    assert config.startswith("# hopfield conf=toy seed=4\n# Python ")
    assert "\nexperiment: toy\nconf: toy\nseed: 4\n" in config


@pytest.mark.parametrize(
    ("words", "directories"),
    [
        (
            ["output=out", "conf=toy,toy_wide", "seed=1,2"],
            [f"out/conf_{c}+seed_{s}" for c in ("toy", "toy_wide") for s in (1, 2)],
        ),
        (["output=out", "conf=toy", "loads=[0.5],[1.0]"], ["out/loads_-0.5--6e1b0a52", "out/loads_-1.0--d7f5d6e5"]),
        (["output=out", "conf=toy", "seed=1"], ["out"]),
        (["conf=toy", "output=a,b"], ["a", "b"]),
    ],
    ids=["two axes", "lists", "one value", "outputs"],
)
def test_a_sweep_has_one_directory_per_job(
    toy: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], directories: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with session.opened(Path(toy[1])):
        jobs = compose.jobs(words, sweep=True)
    found = [str(job.directory.relative_to(tmp_path)) for job in jobs]
    assert len(set(found)) == len(found)
    assert [re.sub(r"-[0-9a-f]{8}$", "-", name) for name in found] == [
        re.sub(r"-[0-9a-f]{8}$", "-", name) for name in directories
    ]


PAIRS = "sweep:\n  - {loads: [0.5], seed: 1}\n  - {loads: [1.0], seed: 2}\n"
LISTS = "sweep: {seed: [1, 2], loads: [[1.0]]}\n"


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize(
    ("file", "words", "loads"),
    [
        (PAIRS, [], [0.5, 1.0]),
        ("", ["sweep=[{loads:[0.5],seed:1},{loads:[1.0],seed:2}]"], [0.5, 1.0]),
        (LISTS, [], [1.0, 1.0]),
    ],
    ids=["pairs of a file", "pairs of a word", "lists of a file"],
)
def test_a_sweep_of_pairs_or_lists_stands_in_a_file_or_a_word(
    tmp_path: Path, file: str, words: list[str], loads: list[float]
) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "mine.yaml").write_text(f"defaults: [/schema/toy, _self_]\n{file}", encoding="utf-8")
    words = ["conf=mine", *words]
    with session.opened(tmp_path):
        jobs = compose.jobs(words, sweep=True)
        options: list[Any] = [job.config for job in jobs]
        assert [(each.loads, each.seed) for each in options] == [
            ([load], seed) for load, seed in zip(loads, (1, 2), strict=True)
        ]
        assert len({job.label for job in jobs}) == 2
        (again,) = compose.jobs(jobs[0].words, sweep=False)
        assert again.config == options[0]
        with pytest.raises(InputError, match="several values: add -m"):
            compose.jobs(words, sweep=False)
        with pytest.raises(InputError, match="seed must be given once, got it in sweep"):
            compose.jobs([*words, "seed=3"], sweep=True)

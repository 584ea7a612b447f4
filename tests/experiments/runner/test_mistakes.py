"""Every mistake on the command line ends in one sentence that names it, exit code 2, and nothing left behind."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

UNREAD = (
    "hydra.run.dir",
    "hydra.sweep.dir",
    "hydra.job.name",
    "hydra.verbose",
    "hydra.sweeper.params",
    "hydra/sweeper",
)
MISTAKES = [
    ("conf=tyo", "got tyo; did you mean toy?"),
    ("conf=toy sede=1", "sede is not an option of conf=toy; did you mean seed?"),
    ("conf=toy +extra=1", "extra is not an option of conf=toy (seed, output"),
    *((f"conf=toy {key}=x", f"{key} must be left out: of Hydra's own options") for key in UNREAD),
    ("conf=toy seed=abc", "seed must be an integer, got abc"),
    ("conf=toy shape=round", "shape must be one of uniform, normal, got round"),
    ("conf=toy loads=0.5", "loads must be a list of numbers, got 0.5"),
    (
        "conf=toy +parts={left:{wight:2}}",
        "parts.left.wight is not an option of conf=toy; did you mean parts.left.weight?",
    ),
    ("conf=toy loads=[]", "loads must not be empty, got []"),
    ("conf=toy loads=[0]", "loads must lie in (0, 1e+09), got 0"),
    ("conf=toy noise=1e300", "noise must be a number that single precision can hold, got 1e+300"),
    ("conf=toy limit=0", "conf=toy must leave at least one point to measure, got none"),
    ("conf=toy seed=0,1", "seed=0,1 gives seed several values: add -m"),
    ("conf=toy -m seed=1,1", "seed=1,1 must list every value once"),
    ("conf=toy noise=1_0", "noise=1_0 must write numbers without underscores, or texts in quotes, got 1_0"),
    ("conf=toy -m seed=range(0,1000000000)", "-m must give at most 10000 jobs, got seed with more"),
    (
        "conf=toy output=a,b",
        "add -m to run each; a list is written output=[a,b], a text with a comma in quotes",
    ),
    ("conf=toy output=loose", "output must be a directory that can be written, got"),
    ("conf=toy --seed 3", "--seed must be one of the flags"),
    ("conf=toy output=file", "file (Not a directory)"),
    ("conf=toy output=damaged", "old.jsonl must be a readable ledger file, got something else"),
]


@pytest.fixture
def clutter(tmp_path: Path) -> list[Path]:
    """Files and directories that get in the way of an output; all there is before the command."""
    (tmp_path / "file").write_text("precious")
    (tmp_path / "damaged/ledger/old.jsonl").mkdir(parents=True)
    (tmp_path / "occupied").mkdir()
    (tmp_path / "occupied/ledger").write_text("precious")
    (tmp_path / "crowded/table.csv").mkdir(parents=True)
    (tmp_path / "loose").symlink_to("nowhere")
    return sorted(tmp_path.rglob("*"))


@pytest.mark.parametrize(("line", "sentence"), MISTAKES, ids=[line[:60] or "nothing" for line, _ in MISTAKES])
def test_a_mistake_ends_in_one_sentence_and_leaves_nothing(
    command: Callable, tmp_path: Path, clutter: list[Path], line: str, sentence: str
) -> None:
    outcome = command(*line.split())
    assert sentence in outcome.err
    assert re.fullmatch(r"error: [^\n]+\n", outcome.err)
    assert (outcome.code, outcome.out) == (2, "")
    assert sorted(tmp_path.rglob("*")) == clutter

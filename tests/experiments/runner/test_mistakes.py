"""Every mistake on the command line ends in one sentence that names it, exit code 2, and nothing left behind."""

import re
import subprocess
import sys
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
    ("", "conf must be one of"),
    ("conf", "conf must be written key=value"),
    ("conf=", "conf must be one of"),
    ("conf=tyo", "got tyo; did you mean toy?"),
    ("conf=../toy", "conf must be one of"),
    ("conf=[toy]", "conf must be one of"),
    ("conf=toy_broken", "lodas is not an option of conf=toy_broken; did you mean loads?"),
    ("conf=toy_nobody", "conf=toy_nobody must name its experiment"),
    ("conf=toy sede=1", "sede is not an option of conf=toy; did you mean seed?"),
    ("conf=toy wandb.mood=online", "wandb.mood is not an option of conf=toy; did you mean wandb.mode?"),
    ("conf=toy +extra=1", "extra is not an option of conf=toy (seed, output"),
    ("conf=toy schema=toy", "schema is not an option of conf=toy"),
    ("conf=toy conf.seed=1", "conf is not an option of conf=toy"),
    *((f"conf=toy {key}=x", f"{key} must be left out: of Hydra's own options") for key in UNREAD),
    ("conf=toy hydra.launcher.nome=x", "hydra.launcher.nome is not an option of conf=toy"),
    ("conf=toy ~seed", "~seed must be left out"),
    ("conf=toy seed", "seed must be written key=value"),
    ("conf=toy =3", "=3 must be written key=value"),
    ("conf=toy loads=[1", "loads=[1 must be written so that Hydra can read it"),
    ("conf=toy seed=abc", "seed must be an integer, got abc"),
    ("conf=toy seed=1.5", "seed must be an integer, got 1.5"),
    ("conf=toy seed=true", "seed must be an integer, got True"),
    ("conf=toy seed=null", "seed must be an integer, got null"),
    ("conf=toy seed=", "seed must be an integer, got ''"),
    ("conf=toy limit=few", "limit must be an integer or null, got few"),
    ("conf=toy noise=loud", "noise must be a number, got loud"),
    ("conf=toy noise=${nope}", "noise cannot be read: Interpolation key 'nope' not found"),
    ("conf=toy flag=perhaps", "flag must be true or false, got perhaps"),
    ("conf=toy shape=round", "shape must be one of uniform, normal, got round"),
    ("conf=toy wandb.mode=onlin", "wandb.mode must be one of auto, online, offline, disabled, got onlin"),
    ("conf=toy wandb=online", "wandb must be a group of options (mode, project"),
    ("conf=toy loads=0.5", "loads must be a list of numbers, got 0.5"),
    ("conf=toy loads=[a]", "loads[0] must be a number, got a"),
    ("conf=toy loads=[0.5,[1]]", "loads must be a list of numbers, got [0.5, [1]]"),
    ("conf=toy kinds=red", "kinds must be a list of strings, got red"),
    ("conf=toy parts={left:{weight:2}}", "add one as in +parts={name:{option:value}}"),
    (
        "conf=toy +parts={left:{wight:2}}",
        "parts.left.wight is not an option of conf=toy; did you mean parts.left.weight?",
    ),
    ("conf=toy loads=[]", "loads must not be empty, got []"),
    ("conf=toy loads=[0]", "loads must lie in (0, 1e+09), got 0"),
    ("conf=toy loads=[nan]", "loads must lie in (0, 1e+09), got nan"),
    ("conf=toy kinds=[green]", "kinds must be one of red, blue, got 'green'"),
    ("conf=toy seed=-1", "seed must lie in [0, 2^32), got -1"),
    ("conf=toy samples=0", "samples must be at least 1, got 0"),
    ("conf=toy noise=1e300", "noise must be a number that single precision can hold, got 1e+300"),
    ("conf=toy noise=.inf", "noise must be a number, got .inf"),
    ("conf=toy noise=inf", "noise must be finite, got inf"),
    ("conf=toy limit=3000000000", "limit must lie in [-2^31, 2^31), got 3000000000"),
    ("conf=toy kinds=['']", "kinds must be one of red, blue, got ''"),
    ("conf=toy +parts={left:{weight:nan}}", "parts.left.weight must be finite, got nan"),
    (f"conf=toy wandb.tags=[{'x' * 65}]", "wandb.tags must have 1 to 64 characters each"),
    ("conf=toy wandb.tags=['']", "wandb.tags must have 1 to 64 characters each"),
    ("conf=toy wandb.group=''", "wandb.group must have 1 to 128 characters"),
    (f"conf=toy seed={'9' * 5000}", "must be written so that Hydra can read it, got: Exceeds the limit"),
    ("conf=toy kinds=[${nope}]", "kinds[0] cannot be read: Interpolation key 'nope' not found"),
    ("conf=toy limit=0", "conf=toy must leave at least one point to measure, got none"),
    ("conf=toy wandb.project=a/b", "wandb.project must be a name without"),
    ("conf=toy wandb.finish_timeout=0", "wandb.finish_timeout must lie in (0, 86400], got 0"),
    ("conf=toy seed=0,1", "seed=0,1 gives seed several values: add -m"),
    ("conf=toy,toy_wide", "conf=toy,toy_wide gives conf several values: add -m"),
    ("conf=toy -m seed=0,x", "seed must be an integer, got x"),
    ("conf=toy,tyo -m", "got tyo; did you mean toy?"),
    ("conf=toy seed=0,1 samples=1,0 -m", "samples must be at least 1, got 0"),
    ("conf=toy -m noise=interval(0,1)", "noise=interval(0,1) must list its values"),
    ("conf=toy -m seed=1,1", "seed=1,1 must list every value once"),
    ("conf=toy -m noise=0.1,0.10", "noise=0.1,0.10 must list every value once"),
    ("conf=toy -m noise=1,1.0", "noise=1,1.0 must list every value once"),
    ("conf=toy noise=1_0", "noise=1_0 must write numbers without underscores, or texts in quotes, got 1_0"),
    ("conf=toy output=2025_11", "output=2025_11 must write numbers without underscores, or texts in quotes"),
    ("conf=toy -m seed=glob(*)", "-m must give at least one job, got no value of seed"),
    ("conf=toy -m seed=range(0,1000000000)", "-m must give at most 10000 jobs, got seed with more"),
    ("conf=toy -m seed=range(0,1000) samples=range(1,1000)", "-m must give at most 10000 jobs, got samples × seed"),
    (
        "conf=toy output=a,b",
        "add -m to run each; a list is written output=[a,b], a text with a comma in quotes",
    ),
    ("conf=toy -m seed=1,", "can read it, got: mismatched input '<EOF>'\n"),
    ("conf=toy wandb.project=é", "can read it, got: a sign that needs quotes, as in key='a b'"),
    ("conf=toy output=loose", "output must be a directory that can be written, got"),
    ("conf=toy output=loose/below", "loose/below (No such file or directory)"),
    ("conf=toy hydra/launcher=slurm", "hydra/launcher must be one of basic"),
    ("conf=toy --seed 3", "--seed must be one of the flags"),
    ("conf=toy --cfg", "--cfg must be followed by job"),
    ("conf=toy --config-dir nowhere", "--config-dir must name a folder that holds a folder conf"),
    ("conf=tyo --help", "got tyo; did you mean toy?"),
    ("conf=toy output=", "output must name a directory, got ''"),
    ("conf=toy output=file", "file (Not a directory)"),
    ("conf=toy output=file/below", "file/below (Not a directory)"),
    (
        "conf=toy output=/proc/nowhere/at/all",
        "output must be a directory that can be written, got /proc/nowhere/at/all",
    ),
    ("conf=toy -m seed=0,1 output=file", "file/seed_0 (Not a directory)"),
    (f"conf=toy output=fresh/{'x' * 300}", "(File name too long)"),
    ("conf=toy -m output=fresh/one,file", "file (Not a directory)"),
    ("conf=toy output=damaged", "old.jsonl must be a readable ledger file, got something else"),
    ("conf=toy output=occupied", "ledger must be the ledger's folder, got a file"),
    ("conf=toy output=crowded", "output must leave room for its files, got a directory"),
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


@pytest.mark.slow
def test_a_mistake_shows_no_traceback_to_the_shell(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "experiments.run", "conf=capcity"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    hint = r"error: conf must be one of those there are, got capcity; did you mean capacity\? \(attractors, [^\n]+\)\n"
    assert re.fullmatch(hint, done.stderr)
    assert list(tmp_path.iterdir()) == []

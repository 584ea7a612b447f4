"""Every mistake on the command line ends in one sentence that names it, exit code 2, and nothing left behind."""

import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from experiments import contract

UNREAD = (
    "hydra.run.dir",
    "hydra.sweep.subdir",
    "hydra.job.name",
    "hydra.verbose",
    "hydra.sweeper.params",
    "hydra.mode",
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
    ("conf=toy hydra/sweeper=optuna", "hydra/sweeper must be one of basic"),
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


CAPACITY = [
    ("memories=[clasical]", "must be one of classical, .*got 'clasical'"),
    ("samples=1 per_memory.classical.samples=2", "samples must not be given together with per_memory"),
    ("loads=null patterns=[3] parity=even", "parity must not be given together with patterns"),
    ("memories=[dense:03]", "memories must be written as in dense:3, got 'dense:03'"),
    ("memories=[dense:3,dense:+3]", "memories must be written as in dense:3, got 'dense:\\+3'"),
    ("memories=[sparse:1.50]", "memories must be written as in sparse:1.5, got 'sparse:1.50'"),
    (
        "conf=retrieval parts=[few] part.many.samples=3",
        "part.many.samples must belong to .* measured, few",
    ),
    ("conf=separation patterns=[10,40] separations=[top_k:11]", "at most the least of patterns, 10, got top_k:11"),
    ("memories=[dense,dense:3]", "memories must be different from each other, got 'dense' and 'dense:3', which are"),
    (
        "ensembles=[good.npy,./good.npy] loads=null patterns=[3]",
        "different from each other, got 'good.npy' and './good.npy'",
    ),
    (
        "ensembles=[good.npy,copy.npy] loads=null patterns=[3]",
        "different from each other, got 'good.npy' and 'copy.npy'",
    ),
    ("dynamics=[synchronous,synchronous] memories=[classical]", "^error: dynamics must be different from each other"),
    ("corruption=[0.1,flip:0.1]", "^error: corruption must be different from each other, got 0.1 and 'flip:0.1'"),
    ("corruption=[0,noise:0]", "^error: corruption must be different from each other, got 0 and 'noise:0'"),
    ("conf=separation across=[lower:0.5,lower:.5]", "^error: across must be different .* 'lower:0.5' and 'lower:.5'"),
    ("conf=retrieval parts=[few,few]", "^error: parts must be different from each other, got \\['few', 'few'\\]"),
    ("per_memory.classical.loads=[0.1,0.1]", "^error: per_memory.classical.loads must be different from each other"),
    (
        "conf=retrieval part.memories.memories=[dense,dense:3]",
        "^error: part.memories.memories must be different .* 'dense' and 'dense:3'",
    ),
    ("conf=separation separations=[top_k:0]", "^error: separations must hold .*, got 'top_k:0': count must be an int"),
    ("conf=training separations=[softmax,entmax:1]", "^error: separations must hold .*, got 'entmax:1': alpha must"),
    ("memories=[dense:2.5]", "^error: memories must hold .*, got 'dense:2.5': memory dense takes an integer"),
    ("conf=separation across=[flip:7]", "^error: across must hold .*, got 'flip:7': corruption must have a fraction"),
    ("conf=separation separations=[hardmax]", "^error: separations must be any of rectified, "),
    ("memories=[classical] neurons=[100,250] samples={250:3}", "^error: samples must name a size of at most N=100, "),
    ("samples={0:4} per_memory.classical.samples=2", "samples must not be given together with per_memory.classical"),
    ("samples=2 samples=3", "samples must be given once, got samples=2 and samples=3"),
    (
        "per_memory.dense:3.queries=2 +per_memory={dense\\:3:{queries:1}}",
        "per_memory.dense:3.queries must be given once",
    ),
    ("conf=capacity conf=capacity_dense", "conf must be given once, got conf=capacity and conf=capacity_dense"),
    ("wandb={mode:disabled} wandb.mode=online", "wandb.mode must be given once"),
    ("memories=[]", "memories must .*got \\[\\]"),
    ("memories=classical", "memories must be a list of strings, got classical"),
    ("memories=[dense:x]", "dense:x"),
    ("memories=[dense:1]", "degree must be .*got 1"),
    ("memories=[classical:3]", "classical"),
    ("neurons=[-5]", "neurons must .*got -5"),
    ("neurons=[0]", "neurons must .*got 0"),
    ("neurons=[]", "neurons must .*got \\[\\]"),
    ("neurons=[30.5]", "neurons\\[0\\] must be an integer, got 30.5"),
    ("neurons=250", "neurons must be a list of integers or null, got 250; did you mean neurons=\\[250\\]\\?$"),
    ("loads=[0]", "loads must .*got 0"),
    ("loads=[-0.1]", "loads must .*got -0.1"),
    ("loads=[]", "loads must .*got \\[\\]"),
    ("loads=[nan]", "loads must .*got nan"),
    ("loads=[1e9]", "loads must .*got 1e\\+11"),
    ("samples=0", "samples must .*got 0"),
    ("queries=-1", "queries must .*got -1"),
    ("dynamics=[sideways]", "dynamics must be one of asynchronous, synchronous, got 'sideways'"),
    ("dynamics=[]", "dynamics must .*got \\[\\]"),
    ("memories=[modern] dynamics=[asynchronous]", "dynamics must be synchronous for modern"),
    ("corruption=[2]", "corruption must .*got 2"),
    ("corruption=['fold:0.1']", "corruption must .*got 'fold:0.1'"),
    ("corruption=[[1]]", "corruption must be a list of values or null, got \\[\\[1\\]\\]"),
    ("per_memory.classical.samples=0", "samples must .*got 0"),
    (
        "per_memory={} per_memory.classical.samples=3",
        "per_memory.classical.samples=3 must name an entry that per_memory={} does not clear",
    ),
    ("per_memory.clasical.samples=3", "per_memory.clasical.samples=3 must set an entry that per_memory has"),
    ("ensembles=[nowhere.npy]", "ensembles must name an existing .*got 'nowhere.npy'"),
    ("ensembles=[objects.npy]", "without pickled data, got 'objects.npy'"),
    ("conf=entropy ensembles=[text.npy]", "ensembles must be a sound .npy or .npz file .*got 'text.npy'"),
    ("conf=heads checkpoint=./nowhere", "checkpoint must name an existing safetensors file .*got 'nowhere'"),
    (
        "ensembles=['mapped:line.npy'] dynamics=[synchronous] max_steps=1 memories=[classical]",
        "ensembles must name .*got 'mapped:line.npy'",
    ),
    ("ensembles=[objects.npz]", "got 'objects.npz'"),
    ("ensembles=[pickle.npy]", "without pickled data, got 'pickle.npy'"),
    ("ensembles=[text.npy]", "got 'text.npy'"),
    ("ensembles=[line.npy]", "must hold patterns of shape .*'line.npy'"),
    ("ensembles=[words.npy]", "must hold real numbers.*'words.npy'"),
    ("ensembles=[nan.npy]", "finite.*'nan.npy'"),
    ("ensembles=[two.npz]", "'faces', 'places'.*'two.npz'"),
    ("ensembles=[.]", "got '.'"),
    ("ensembles=[good.npy] neurons=[30]", "neurons must be 20 for the patterns of good.npy, got \\[30\\]"),
    ("ensembles=[good.npy] memories=[classical] neurons=[20] loads=[0.5]", "6 patterns of good.npy, got 11"),
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


class Bomb:
    """Unpickling this makes a directory, and so shows that data was executed."""

    def __reduce__(self) -> tuple:
        return Path.mkdir, (Path("exploded"),)


def test_the_bomb_goes_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pickle.loads(pickle.dumps(Bomb()))
    assert Path("exploded").is_dir()


@pytest.fixture
def sources(tmp_path: Path) -> list[Path]:
    """Files of patterns that cannot be used; all there is before the command."""
    np.save(tmp_path / "objects.npy", np.array([[Bomb()]], dtype=object), allow_pickle=True)
    (tmp_path / "pickle.npy").write_bytes(pickle.dumps(Bomb()))
    np.savez(tmp_path / "objects.npz", patterns=np.array([[Bomb()]], dtype=object), allow_pickle=True)
    np.save(tmp_path / "line.npy", np.ones(3))
    np.save(tmp_path / "words.npy", np.array([["a", "b"]]))
    np.save(tmp_path / "nan.npy", np.full((4, 5), np.nan))
    np.save(tmp_path / "good.npy", np.sign(np.random.default_rng(0).normal(size=(6, 20))))
    (tmp_path / "copy.npy").write_bytes((tmp_path / "good.npy").read_bytes())
    np.savez(tmp_path / "two.npz", faces=np.ones((3, 4)), places=np.ones((3, 4)))
    (tmp_path / "text.npy").write_text("1 2 3")
    return sorted(tmp_path.rglob("*"))


@pytest.mark.parametrize(("words", "sentence"), CAPACITY, ids=[line for line, _ in CAPACITY])
def test_a_mistake_about_capacity_ends_in_one_sentence_and_runs_no_data(
    command: Callable, tmp_path: Path, sources: list[Path], words: str, sentence: str
) -> None:
    outcome = command(*(words if words.startswith("conf=") else f"conf=capacity {words}").split(" "))
    assert re.search(sentence, outcome.err), outcome.err
    assert re.fullmatch(r"error: [^\n]+\n", outcome.err)
    assert (outcome.code, outcome.out) == (2, "")
    assert sorted(tmp_path.rglob("*")) == sources


FORMER = {
    "capacity probes=3": "probes: queries",
    "capacity stored=[3] loads=null": "stored: patterns",
    "capacity sources=[digits]": "sources: ensembles",
    "capacity per_memory.dense:3.probes=3": "per_memory.dense:3.probes: per_memory.dense:3.queries",
    "capacity +per_memory={modern:{stored:[3]}}": "per_memory.modern.stored: per_memory.modern.patterns",
    "capacity_asymptotic trials=3": "trials: sampled_queries",
    "capacity_asymptotic draws=3": "draws: samples",
    "retrieval betas=[3]": "betas: kappas",
    "retrieval part.few.probes=3": "part.few.probes: part.few.queries",
    "phase_diagram curves.probes=3": "curves.probes: curves.queries",
    "optimisers trials=3": "trials: search_trials",
    "training trials=3": "trials: seeds",
    "separation sources=[digits]": "sources: ensembles",
    "efficient_attention repetitions=3": "repetitions: repeats",
    "training_mil data=[made]": "data: ensembles",
    "novelty kappa=[3]": "kappa: kappas",
    "retrieval_story beta=[3]": "beta: betas",
    "mqar learning_rates=[0.1]": "learning_rates: learning_rate",
    "capacity_learned updates=3": "updates: max_steps",
    "entropy rise=0.1": "rise: least_rise",
    "capacity wandb.mode=disabled -m probes=3,4": "probes: queries",
}
"""Lines with the name that an option had once, and that name beside its present one."""


@pytest.mark.parametrize("line", FORMER)
def test_a_former_name_of_an_option_is_refused_with_the_present_one(
    command: Callable, tmp_path: Path, line: str
) -> None:
    outcome = command(*f"conf={line}".split(" "))
    old, new = FORMER[line].split(": ")
    assert outcome.err == f"error: {old} is not an option of conf={line.split()[0]}: it is called {new} now\n"
    assert (outcome.code, outcome.out, list(tmp_path.iterdir())) == (2, "", [])


def test_a_former_name_in_a_file_is_refused_with_the_present_one(command: Callable, tmp_path: Path) -> None:
    (tmp_path / "own/conf").mkdir(parents=True)
    (tmp_path / "own/conf/mine.yaml").write_text(
        "# @package _global_\ndefaults: [/schema/capacity, _self_]\nprobes: 3\n", encoding="utf-8"
    )
    outcome = command("conf=mine", "--config-dir", "own")
    assert "probes is not an option of conf=mine: it is called queries now" in outcome.err
    assert "mine.yaml line 3" in outcome.err


@pytest.mark.parametrize(("line", "sentence"), MISTAKES, ids=[line[:60] or "nothing" for line, _ in MISTAKES])
def test_a_mistake_ends_in_one_sentence_and_leaves_nothing(
    command: Callable, tmp_path: Path, clutter: list[Path], line: str, sentence: str
) -> None:
    outcome = command(*line.split())
    assert sentence in outcome.err
    assert re.fullmatch(r"error: [^\n]+\n", outcome.err)
    assert (outcome.code, outcome.out) == (2, "")
    assert sorted(tmp_path.rglob("*")) == clutter


def test_a_mistake_shows_no_traceback_to_the_shell(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "experiments.run", "conf=capcity"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    hint = r"error: conf must be one of those there are, got capcity; did you mean capacity\? \(basins, [^\n]+\)\n"
    assert re.fullmatch(hint, done.stderr)
    assert list(tmp_path.iterdir()) == []


def test_the_whole_error_is_there_for_whoever_asks(command: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYDRA_FULL_ERROR", "1")
    with pytest.raises(contract.InputError, match="seed must be an integer"):
        command("conf=toy", "seed=abc")


def test_a_mapped_file_of_whole_numbers_is_named_as_it_was_given(command: Callable, tmp_path: Path) -> None:
    np.save(tmp_path / "big.npy", np.ones((3, 4), np.int8))
    words = "ensembles=[mapped:big.npy] patterns=[2] dynamics=[synchronous] max_steps=1"
    outcome = command("conf=capacity", *words.split())
    assert outcome.code == 2
    asked = "ensembles must name a .npy file of a matrix [M, N] of float16, float32 or float64, got 'mapped:big.npy'"
    assert outcome.err == f"error: {asked}, which holds int8 of shape (3, 4)\n"
